"""A line that keeps changing while something long goes on."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


LOG_EVERY = 10.0  # seconds


@contextmanager
def showing(line: Callable[[], str]) -> Iterator[None]:
    """Keep showing the line: in place on a terminal, now and then in a log."""
    done = threading.Event()
    watcher = threading.Thread(target=_on_terminal if sys.stdout.isatty() else _in_log, args=(line, done), daemon=True)
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


def _on_terminal(line: Callable[[], str], done: threading.Event) -> None:
    while not done.wait(0.5):
        print(f"\r\033[K{line()}", end="", flush=True)
    print("\r\033[K", end="", flush=True)


def _in_log(line: Callable[[], str], done: threading.Event) -> None:
    last = ""
    while not done.wait(LOG_EVERY):
        if (now := line()) != last:
            print(now, flush=True)
        last = now
