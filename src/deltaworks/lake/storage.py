"""Places: where something is, and what to say when it cannot be reached."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, unquote, urlsplit

from deltaworks.errors import ConfigError, SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Answer = TypeVar("Answer")


def local_path(uri: str) -> Path | None:
    """The local folder a URI means; none when it is on some other storage."""
    if uri.startswith("file:"):
        return Path(unquote(urlsplit(uri).path))
    return None if "://" in uri else Path(uri)


def one_spelling(uri: str) -> str:
    """A URI as we write it: for Hadoop `s3` is nothing, and `s3a` the same bucket for everybody."""
    return re.sub(r"^s3n?://", "s3a://", uri, flags=re.IGNORECASE)


def escaped(uri: str) -> str:
    """A URI for those who take `%20` for a space: a name stays what it is for Hadoop."""
    scheme, _, rest = uri.partition("://")
    return f"{scheme}://{quote(rest, safe='/@:=')}" if local_path(uri) is None else uri


class NowhereError(ConfigError):
    """What should be the place of a table is none."""

    def __init__(self, uri: str, why: str) -> None:
        super().__init__(
            f"{uri!r} is no place we can read: {why}.", hint="Give a path, or a URI such as s3a://bucket/table."
        )


class UnreachableError(SetupError):
    """The storage of a table does not answer, or does not let us in."""

    def __init__(self, uri: str, why: str) -> None:
        super().__init__(f"{uri} cannot be reached: {why}", hint=advice(why))
        self.why = why


class AbsentError(UnreachableError):
    """A file is not there."""


def advice(why: str) -> str:
    """What to do about a reason that storage gave."""
    told = (hint for words, hint in _ADVICE.items() if re.search(words, why))
    return next(told, "Check the address, the credentials and the rights.")


_ADVICE = {
    "ExpiredToken|TokenRefreshRequired|InvalidToken|expired": "Renew the credential and run again: nothing was lost.",
    "InvalidAccessKeyId|SignatureDoesNotMatch": "The keys are wrong: check the credential.",
    "Access ?Denied": "The credential is known, but it lacks a right there.",
    "Forbidden": "The keys are wrong, or they lack a right there.",
    "NoSuchBucket": "Make the bucket, or check its name.",
    "RequestTimeTooSkewed": "Set this machine's clock right.",
    "SlowDown|reduce your request rate|InternalError|Unavailable": "The storage is busy or ill: try again later.",
    "Connection refused|lookup address|timed out": "Check the address, and that the storage can be reached from here.",
}


def reason(error: Exception) -> str:
    """Why something failed, in one short line: storage errors are told as a chain of lines with the cause last."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    told = re.sub(r"^\W*\x1b\S*|^\s+", "", lines[-1]).strip() if lines else type(error).__name__
    return told if len(told) <= 200 else f"{told[:199]}…"


def patiently(ask: Callable[[], Answer], tries: int = 3) -> Answer:
    """What storage answers; asked again where the connection ended before the answer did.

    Object stores repeat only what may be done twice, so not a file that is made where there was none.
    """
    try:
        return ask()
    except Exception as error:
        if tries == 1 or not re.search(_CUT_OFF, str(error)):
            raise
    return patiently(ask, tries - 1)


_CUT_OFF = "(request or response|decoding response) body|IncompleteMessage|Connection reset|Broken pipe"


@contextmanager
def reached(uri: str) -> Iterator[None]:
    """Say of an error of the machine what could not be reached."""
    try:
        yield
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        kind = AbsentError if isinstance(error, FileNotFoundError | NotADirectoryError) else UnreachableError
        raise kind(uri, f"{error.strerror}{where}" if error.strerror else reason(error)) from error
