"""A server lives as long as the test run: the first test that needs it starts it, and it never outlives the run.

As a program it is the parent of one server, which it ends when the run's own process is gone, even by a kill.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import select
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60  # seconds
LAST_LINES = 20


class ServerError(Exception):
    """A server that tests need does not answer; its own last words say why."""

    def __init__(self, port: int, log: Path) -> None:
        words = log.read_text(encoding="utf-8", errors="replace").splitlines()[-LAST_LINES:]
        super().__init__("\n".join([f"Nothing answers on port {port}. The end of {log}:", *words]))


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the tests: a folder that all its processes share, and the process with which it ends."""

    folder: Path
    pid: int

    def once(self, name: str, start: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
        """Return the facts about a server, started by whichever process of the run asks first."""
        folder = self.folder / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            facts = folder / "facts.json"
            if not facts.exists():
                facts.write_text(json.dumps(start(folder)), encoding="utf-8")
            return dict(json.loads(facts.read_text(encoding="utf-8")))

    def keep(self, command: list[str], log: Path, port: int, scratch: Path | None = None) -> int:
        """Start a server, wait until its port answers, and let it live while the run does; say who keeps it.

        A scratch folder, which is not among those of the tests, goes with the server.
        """
        with log.open("wb") as output:
            keeper = subprocess.Popen(
                [sys.executable, "-m", "tests.servers.keeper", str(self.pid), str(scratch or ""), *command],
                cwd=ROOT,
                env=unmeasured(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for the tests
            )
        deadline = time.monotonic() + PATIENCE
        while not answers(port):
            if keeper.poll() is not None or time.monotonic() > deadline:
                keeper.kill()
                raise ServerError(port, log)
            time.sleep(0.02)
        return keeper.pid


def unmeasured() -> dict[str, str]:
    """The environment without what makes a process measure its coverage."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COV")}


def answers(port: int) -> bool:
    """Whether something listens there."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def require(port: int, log: Path) -> None:
    """Say why, when a server that was there is gone."""
    if not answers(port):
        raise ServerError(port, log)


def free_port() -> int:
    """A port that nobody has, below those the system hands out, so that nobody is given it before its server starts."""
    while answers(port := random.randrange(20000, 32000)):
        pass
    return port


def main(run: str, scratch: str, *command: str) -> None:
    """Be the parent of a server until it or the run ends; then remove what it had for itself."""
    end_of_run = os.pidfd_open(int(run))
    # Whoever kills the keeper kills the server too.
    server = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command])
    end_of_server = os.pidfd_open(server.pid)
    select.select([end_of_run, end_of_server], [], [])
    server.kill()
    server.wait()
    if scratch:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
