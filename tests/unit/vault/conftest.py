"""What the tests of vaults share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers on this machine be asked directly."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
