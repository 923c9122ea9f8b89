"""A set-up that cannot go on says so in two lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Problem(Exception):  # noqa: N818 - it is about the machine, not about our code
    """Something is missing here: what it is, and what to do about it."""

    def __init__(self, what: str, *, hint: str) -> None:
        super().__init__(what)
        self.hint = hint


def reporting(work: Callable[[], None]) -> None:
    """Do the work; show a problem as two lines and exit code 3, never as a traceback."""
    try:
        work()
    except Problem as problem:
        print(f"Error: {problem}\nHint: {problem.hint}", file=sys.stderr)
        raise SystemExit(3) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
