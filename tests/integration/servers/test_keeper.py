"""A server of the tests is started once, is there or says why not, and never outlives its run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from tests.servers.keeper import ROOT, Run, ServerError, answers, free_port, require, unmeasured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Two files, so that pytest-xdist gives them to two processes.
NESTED = """
import os, time
from hashlib import sha256
from pathlib import Path

def test_that_waits(s3, bucket):
    Path(__file__).with_suffix(".txt").write_text(f"{s3.port} {sha256(s3.owner.secret.encode()).hexdigest()}")
    parent, end = os.getppid(), time.monotonic() + 30
    while os.getppid() == parent and time.monotonic() < end:
        time.sleep(0.02)
"""


def server(port: int) -> list[str]:
    """The smallest server there is."""
    return [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(port)]


@contextmanager
def killed(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End a process the hard way, whatever the test found."""
    try:
        yield
    finally:
        process.kill()


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Whether something comes true soon enough."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def test_processes_share_one_server_which_is_gone_after_the_run_was_killed(tmp_path: Path) -> None:
    files = [tmp_path / "test_one.py", tmp_path / "test_two.py"]
    told = [file.with_suffix(".txt") for file in files]
    for file in files:
        file.write_text(NESTED)
    options = ["-p", "tests.conftest", "-n", "2", "--dist", "loadfile", f"--basetemp={tmp_path / 'temp'}"]
    command = [sys.executable, "-m", "pytest", *options, f"--rootdir={tmp_path}", str(tmp_path)]
    with (tmp_path / "log").open("w") as log:
        run = subprocess.Popen(command, cwd=ROOT, env=unmeasured(), stdout=log, stderr=log)
    with run, killed(run):
        assert within(60, lambda: all(file.exists() and file.read_text() for file in told)), (
            tmp_path / "log"
        ).read_text()
        first, second = (file.read_text() for file in told)
        assert first == second
        assert answers(int(first.split()[0]))

    assert within(10, lambda: not answers(int(first.split()[0])))


def test_a_server_ends_when_its_run_does(tmp_path: Path) -> None:
    port = free_port()
    with subprocess.Popen(["sleep", "60"]) as run:
        Run(tmp_path, run.pid).keep(server(port), tmp_path / "log", port)
        run.terminate()

    assert within(10, lambda: not answers(port))


def test_a_server_dies_with_its_keeper(tmp_path: Path) -> None:
    port = free_port()
    keeper = Run(tmp_path, os.getpid()).keep(server(port), tmp_path / "log", port)
    os.kill(keeper, signal.SIGKILL)

    assert within(10, lambda: not answers(port))


def test_a_server_that_does_not_start_fails_with_its_own_words(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit('no room left')"]

    with pytest.raises(ServerError, match="no room left"):
        Run(tmp_path, os.getpid()).keep(command, tmp_path / "log", free_port())


def test_a_server_that_is_gone_fails_with_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("out of memory\n")

    with pytest.raises(ServerError, match="out of memory"):
        require(free_port(), tmp_path / "log")


def test_a_server_is_started_once(tmp_path: Path) -> None:
    run, starts = Run(tmp_path, os.getpid()), [{"port": 1}, {"port": 2}]

    assert run.once("s3", lambda _: starts.pop(0)) == run.once("s3", lambda _: starts.pop(0)) == {"port": 1}
