"""A command at a terminal where somebody types."""

from __future__ import annotations

import fcntl
import os
import pty
import shlex
import subprocess
import sys
import termios
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = (sys.executable, "-m", "deltaworks.cli.main")
LIMIT = 60  # seconds


def at_a_terminal(*words: object, cwd: Path, answers: dict[str, str]) -> tuple[int, str]:
    """Run a command, and type each answer once its question is shown; say how it ended and what was to be seen."""
    return _typed([*COMMAND, *map(str, words)], cwd, answers)


def in_a_shell(line: str, *, cwd: Path, answers: dict[str, str]) -> tuple[int, str]:
    """Type a line at the prompt of a shell that knows the command."""
    return _typed(["sh", "-c", f'deltaworks() {{ {shlex.join(COMMAND)} "$@"; }}; {line}'], cwd, answers)


def _typed(command: list[str], cwd: Path, answers: dict[str, str]) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        command,
        cwd=cwd,
        env=os.environ | {"NO_COLOR": "1"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        # What `/dev/tty` is to the child, and where its Ctrl-C comes from.
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - takes no lock
    )
    os.close(theirs)
    impatience = threading.Timer(LIMIT, child.kill)
    impatience.start()
    seen = "".join(_until(ours, question, answer) for question, answer in answers.items()) + _until(ours)
    code = child.wait()
    impatience.cancel()
    os.close(ours)
    return code, seen.replace("\r\n", "\n")


def _until(terminal: int, question: str = "\0", answer: str = "") -> str:
    """Read until a question is shown, and answer it; without one, to the end."""
    seen = ""
    while question not in seen:
        try:
            read = os.read(terminal, 4096)
        except OSError:  # the other side is closed
            return seen
        if not read:
            return seen
        seen += read.decode()
    os.write(terminal, f"{answer}\n".encode())
    return seen
