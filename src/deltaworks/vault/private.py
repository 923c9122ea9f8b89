"""Files with secrets: for their owner only, replaced as a whole, changed by one process at a time."""

from __future__ import annotations

import fcntl
import os
import shlex
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from deltaworks.errors import SetupError
from deltaworks.failpoints import reach

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LARGEST = 4_000_000  # bytes; what is larger is none of our files


class OpenToOthersError(SetupError):
    """A file with secrets that others could read or put another one in the place of."""

    def __init__(self, problem: str, *, remedy: str) -> None:
        super().__init__(problem, hint=f"Run `{remedy}`; if others may have seen what is in it, change that too.")


def read_private(path: Path) -> bytes:
    """Read a file that only its owner can read or replace; any other is refused."""
    path = path.resolve()
    try:
        with path.open("rb") as file:
            # The file that is open is the one to look at: its name may belong to another by now.
            _require_private(path, os.fstat(file.fileno()))
            _require_private_folder(path.parent)
            content = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SetupError(f"{path} cannot be read: {error.strerror}.", hint="Is it a file, and is it yours?") from error
    if len(content) > LARGEST:
        raise SetupError(f"{path} is too large to be what it should be.", hint="Check the path.")
    return content


def replace_private(path: Path, content: bytes) -> None:
    """Put new content in the place of a file; a kill at any moment leaves the old or the new, and all of it."""
    path = path.resolve()
    draft = path.with_name(f".{path.name}.draft")
    try:
        _make_private_folder(path.parent)
        draft.unlink(missing_ok=True)  # of a process that was killed
        _write(draft, content)
        reach(f"before_replacing_{path.name}")
        draft.replace(path)
        _sync(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        with suppress(OSError):
            draft.unlink()


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Let one process at a time change a file; the others wait."""
    path = path.resolve()
    try:
        _make_private_folder(path.parent)
        lock = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _unwritable(path: Path, error: OSError) -> SetupError:
    hint = "Make room or give rights there, or choose another place."
    return SetupError(f"{path} cannot be written: {error.strerror}.", hint=hint)


def _write(draft: Path, content: bytes) -> None:
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_private_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _require_private_folder(folder)


def _require_private(path: Path, found: os.stat_result) -> None:
    name = shlex.quote(str(path))
    if found.st_mode & 0o077:
        raise OpenToOthersError(f"{path} is not for its owner alone.", remedy=f"chmod 600 {name}")
    _require_own(path, found)


def _require_private_folder(folder: Path) -> None:
    found = folder.stat()
    if found.st_mode & 0o022:
        remedy = f"chmod go-w {shlex.quote(str(folder))}"
        raise OpenToOthersError(f"Others can write to {folder}, and so replace what is in it.", remedy=remedy)
    _require_own(folder, found)


def _require_own(path: Path, found: os.stat_result) -> None:
    user = os.geteuid()
    # Root owns what an administrator put there, and may use what is anybody's.
    if user not in (0, found.st_uid) and found.st_uid != 0:
        raise OpenToOthersError(f"{path} belongs to another user.", remedy=f"chown {user} {shlex.quote(str(path))}")
