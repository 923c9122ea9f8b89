"""Whether the process that began something still lives."""

from __future__ import annotations

import os
import pwd
import socket
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """One process on one host; the start time tells it from a later one with the same number."""

    host: str
    pid: int
    started: str
    machine: str = ""  # what counts process numbers: two containers may have one host's name

    @classmethod
    def current(cls) -> Process:
        """This process."""
        return cls(socket.gethostname(), os.getpid(), _start_time(os.getpid()) or "", _machine())

    def is_here(self) -> bool:
        """Whether it is a process of this machine, of which we can know."""
        return self.machine == _machine()

    def is_gone(self) -> bool:
        """Whether it certainly lives no more; of another machine we cannot know."""
        return self.is_here() and _start_time(self.pid) != self.started


def _machine() -> str:
    """One start of one kernel, and the process numbers that are seen from here."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"


def user_name() -> str:
    """Who runs this process."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container may give a number no name
        return str(os.getuid())


def _start_time(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return None
    # The command, in brackets, may contain spaces; what follows does not.
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else fields[18]  # one that nobody has waited for yet is gone all the same
