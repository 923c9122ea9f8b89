"""A line that keeps changing while something long goes on."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def showing(line: Callable[[], str]) -> Iterator[None]:
    """Keep showing the line: in place on a terminal, now and then in a log."""
    done = threading.Event()
    watcher = threading.Thread(target=_show, args=(line, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def bar(done: int, total: int, width: int = 24) -> str:
    """Draw how far along we are."""
    full = width * min(done, total) // max(total, 1)
    return f"[{'#' * full}{'.' * (width - full)}] {done} of {total}"


def _show(line: Callable[[], str], done: threading.Event) -> None:
    terminal = sys.stdout.isatty()
    while not done.wait(0.5 if terminal else 10):
        print(f"\r\033[K{line()}" if terminal else line(), end="" if terminal else "\n", flush=True)
    if terminal:
        print("\r\033[K", end="", flush=True)
