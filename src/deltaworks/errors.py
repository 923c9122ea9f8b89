"""Every error we raise, as one tree. The families say what a caller can do.

DeltaworksError          1  a run failed
├── RunError             1  look at the run; some are transient and were retried
│   ├── ConflictError    1  another writer was faster (transient)
│   └── AwayError        1  a server went away while the run was under way (transient)
├── ConfigError          2  change the file or the arguments
├── SetupError           3  change the machine: Java, jars, packages, a server, a password
├── RefusedError         4  nothing was done, on purpose; the hint says how to insist
└── StoppedError       130  somebody pressed Ctrl-C or sent SIGTERM
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class DeltaworksError(Exception):
    """Base of every error we raise: what went wrong, and what to do next."""

    exit_code: ClassVar[int] = 1
    transient: ClassVar[bool] = False  # True means the runner may try again

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint
        self.record: str | None = None  # the folder of the run that failed, once it has one

    def __reduce__(self) -> tuple[Any, ...]:
        # Subclasses take other arguments, so the default (class, args) would not revive them.
        return _revived, (type(self), self.args, self.__dict__)


def _revived(kind: type[DeltaworksError], args: tuple[Any, ...], facts: dict[str, Any]) -> DeltaworksError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(facts)
    return error


class RunError(DeltaworksError):
    """A run started and did not finish; the table is as it was."""


class ConflictError(RunError):
    """Another writer committed first; a fresh look at the table may let this one through."""

    transient = True


class AwayError(RunError):
    """A server that was there did not answer any more; it may come back."""

    transient = True


class ConfigError(DeltaworksError):
    """A file or an argument says something that cannot be done."""

    exit_code = 2


class SetupError(DeltaworksError):
    """The machine lacks something: Java, jars, a package, a reachable server, a right."""

    exit_code = 3


class RefusedError(DeltaworksError):
    """Doing this could lose or double rows, so nothing was done."""

    exit_code = 4


class StoppedError(DeltaworksError):
    """The run was stopped from outside before it could commit."""

    exit_code = 130


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Say the closest known word, or all of them when none is close."""
    names = sorted(known)
    folded = {name.lower(): name for name in names}
    close = get_close_matches(word.lower(), folded, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {folded[close[0]]!r}?"
    return f"Known: {', '.join(names) or 'none'}."
