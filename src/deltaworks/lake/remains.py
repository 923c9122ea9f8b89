"""What vacuum left of a table's past."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.lake.datafiles import names
from deltaworks.lake.versions import told

if TYPE_CHECKING:
    from deltaworks.lake.log import Log


def require_files(log: Log, version: int, latest: int) -> None:
    """See that all files of a version are still there.

    Vacuum keeps what the latest version has: only what was taken out of the table since can be gone.
    """
    gone = log.folder.missing(_taken_out(log, version, latest))
    if gone:
        whole = range(_whole_since(log, latest), latest + 1)
        raise VacuumedError(log.uri, version, gone=len(gone), whole=whole)


def _taken_out(log: Log, version: int, latest: int) -> set[str]:
    files: set[str] = set()
    for later in range(latest, version, -1):
        actions = log.actions(later)
        # In this order: a file that got another deletion vector is added and removed at once.
        files = (files - names(actions, "add")) | names(actions, "remove")
    return files


def _whole_since(log: Log, latest: int) -> int:
    """The version from which on none has lost a file; an older one may still be whole by luck."""
    return next(later for later in range(latest, 0, -1) if log.folder.missing(names(log.actions(later), "remove")))


class VacuumedError(ConfigError):
    """A version was named whose files are gone."""

    def __init__(self, uri: str, version: int, *, gone: int, whole: range) -> None:
        files = "one of its files" if gone == 1 else f"{gone} of its files"
        super().__init__(
            f"Version {version} of {uri} can no longer be read: vacuum removed {files}.",
            hint=f"{told(whole).capitalize()} can be read.",
        )
        self.version = version
