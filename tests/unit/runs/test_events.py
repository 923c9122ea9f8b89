from __future__ import annotations

from deltaworks.runs.events import Stage, unobserved


def test_a_run_nobody_watches_says_nothing() -> None:
    unobserved(Stage("orders", "load"))

    assert Stage("orders", "load").detail == ""
