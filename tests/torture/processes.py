"""Processes that are watched, paused and killed."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

PATIENCE = 240  # seconds


def kill(process: subprocess.Popen[str]) -> None:
    """End a process and all that it started, at once; its JVM is of another group, but of the same session."""
    while alive := list(_alive(process.pid)):
        for pid in alive:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    process.wait(PATIENCE)


def _alive(session: int) -> Iterator[int]:
    """The processes of a session."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, _, _, found, *_ = _facts(int(folder.name))
            if int(found) == session and state != "Z":
                yield int(folder.name)


def _facts(pid: int) -> list[str]:
    """What the system says of a process: its state, parent, group, session and more."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def wait_until(true: Callable[[], bool], process: subprocess.Popen[str], pause: float = 0.05) -> None:
    """Wait for something that a process does."""
    until = time.monotonic() + PATIENCE
    while not true():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "it takes too long"
        time.sleep(pause)


def paused(process: subprocess.Popen[str]) -> bool:
    """Whether a process has stopped itself."""
    return _facts(process.pid)[0] == "T"


def all_go_on(*processes: subprocess.Popen[str]) -> list[tuple[str, str]]:
    """Wait until all have stopped themselves, let them go on, however often they stop again; what they said."""
    for process in processes:
        wait_until(partial(paused, process), process)
    alive = list(processes)
    while alive := [process for process in alive if process.poll() is None]:
        for process in alive:
            os.killpg(process.pid, signal.SIGCONT)
        time.sleep(0.05)
    return [process.communicate() for process in processes]
