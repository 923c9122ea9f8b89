"""A run that goes on until somebody wants it to end, and then ends well."""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from deltaworks.cli.output import to_stderr

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from deltaworks.pipeline.following import Pace


SAME = 1.0  # seconds in which two signals are one: some send it to a process and to its group


@contextmanager
def stoppable(pace: Pace) -> Iterator[None]:
    """While a pipeline is followed: let SIGTERM and Ctrl-C end it after the batch under way, the second one at once."""
    if not pace.follow:
        yield
        return

    first = 0.0

    def wish(number: int, frame: FrameType | None) -> None:
        nonlocal first
        if pace.stopping.wished and time.monotonic() - first > SAME:
            raise KeyboardInterrupt
        if pace.stopping.wished:
            return
        first = time.monotonic()
        pace.stopping.wish()
        to_stderr().print("Stopping after this batch; once more to stop at once.", soft_wrap=True)

    before = {number: signal.signal(number, wish) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
