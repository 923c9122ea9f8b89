from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from deltaworks.runs.process import Process, user_name

if TYPE_CHECKING:
    from collections.abc import Iterator

TELL = "from deltaworks.runs.process import Process; print(Process.current().started, flush=True); input()"


@pytest.fixture
def other() -> Iterator[tuple[subprocess.Popen[str], Process]]:
    """Another process, and how it knows itself."""
    command = [sys.executable, "-c", TELL]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        yield child, replace(Process.current(), pid=child.pid, started=child.stdout.readline().strip())
        child.kill()


def test_this_process_lives() -> None:
    assert Process.current().pid == os.getpid()
    assert not Process.current().is_gone()


def test_another_process_lives_until_it_is_killed(other: tuple[subprocess.Popen[str], Process]) -> None:
    child, process = other

    assert not process.is_gone()
    child.kill()
    child.wait()
    assert process.is_gone()


def test_a_killed_process_nobody_waited_for_is_gone(other: tuple[subprocess.Popen[str], Process]) -> None:
    child, process = other

    os.kill(child.pid, signal.SIGKILL)

    assert eventually_gone(process)
    assert child.returncode is None


def test_a_later_process_with_the_same_number_is_another() -> None:
    assert replace(Process.current(), started="1").is_gone()


def test_a_process_of_another_machine_is_never_known_to_be_gone() -> None:
    other = replace(Process.current(), machine="elsewhere", pid=2**22 + 1, started="1")

    assert not other.is_here()
    assert not other.is_gone()


def test_a_number_no_process_has_is_gone() -> None:
    assert replace(Process.current(), pid=2**22 + 1).is_gone()


def test_the_user_has_a_name() -> None:
    assert user_name()


def test_a_user_without_a_name_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_001)

    assert user_name() == "4000000001"


def eventually_gone(process: Process) -> bool:
    deadline = time.monotonic() + 10
    while not process.is_gone() and time.monotonic() < deadline:
        time.sleep(0.01)
    return process.is_gone()
