from __future__ import annotations

import threading

import pytest
from tools.progress import bar, showing


@pytest.mark.parametrize(
    ("done", "total", "drawn"),
    [(0, 4, "[....] 0 of 4"), (2, 4, "[##..] 2 of 4"), (4, 4, "[####] 4 of 4"), (0, 0, "[....] 0 of 0")],
)
def test_the_bar_grows_with_the_work(done: int, total: int, drawn: str) -> None:
    assert bar(done, total, width=4) == drawn


def test_short_work_shows_nothing_in_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    with showing(lambda: "half way"):
        pass

    assert capsys.readouterr().out == ""


def test_in_a_log_what_has_not_changed_is_not_said_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.progress.LOG_EVERY", 0.001)
    asked = iter(["half", "half", "whole"])
    finished = threading.Event()

    def line() -> str:
        said = next(asked, None)
        if said is None:
            finished.set()
        return said or "whole"

    with showing(line):
        assert finished.wait(10)

    assert capsys.readouterr().out.splitlines() == ["half", "whole"]
