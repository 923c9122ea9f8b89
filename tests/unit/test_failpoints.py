from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from deltaworks import failpoints
from deltaworks.errors import RunError

REACH = "from deltaworks import failpoints; failpoints.reach('before_commit'); print('passed')"


def test_off_a_step_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DELTAWORKS_FAILPOINTS", raising=False)

    failpoints.reach("before_commit")


@pytest.mark.parametrize("armed", ["after_commit=raise", "before_commit=", "before_commit=nonsense"])
def test_a_step_that_is_not_armed_does_nothing(monkeypatch: pytest.MonkeyPatch, armed: str) -> None:
    monkeypatch.setenv("DELTAWORKS_FAILPOINTS", armed)

    failpoints.reach("before_commit")


def test_a_step_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTAWORKS_FAILPOINTS", "after_commit=sleep:9,before_commit=raise")

    with pytest.raises(RunError, match="'before_commit'"):
        failpoints.reach("before_commit")


def test_a_step_can_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTAWORKS_FAILPOINTS", "before_commit=sleep:0.05")
    started = time.monotonic()

    failpoints.reach("before_commit")

    assert time.monotonic() - started >= 0.05


def test_a_step_can_be_the_last() -> None:
    environment = {**os.environ, "DELTAWORKS_FAILPOINTS": "before_commit=kill"}
    done = subprocess.run([sys.executable, "-c", REACH], env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == -signal.SIGKILL
    assert done.stdout == ""
