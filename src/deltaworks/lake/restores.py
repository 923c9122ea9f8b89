"""Tables that were taken back: what a RESTORE left of a version."""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltaworks.lake.log import Log, LoggedCommit
    from deltaworks.lake.table import Table


def still_there(table: Table, version: int) -> bool:
    """Whether the rows of `version` are part of the table, after every RESTORE since then.

    A RESTORE may itself be undone by a later one, so each is followed to what it restored.
    """
    later = takewhile(lambda found: found.version > version, table.history())
    restores = {found.version: found for found in later if found.operation == "RESTORE"}
    at = table.version
    while at >= version:
        last = max((number for number in restores if number <= at), default=None)
        if last is None:
            return True
        at = _restored_version(table.log, restores[last], version)
    return False


def standing(log: Log, version: int) -> Iterator[LoggedCommit]:
    """The commits whose rows were part of the table at `version`, newest first: none that a RESTORE had taken back."""
    oldest, at = next(iter(log.versions()), 0), version
    for found in log.back(version):
        if found.version > at:
            continue
        if found.operation == "RESTORE":
            at = _restored_version(log, found, oldest)
        else:
            yield found


def _restored_version(log: Log, restore: LoggedCommit, oldest: int) -> int:
    target = restore.parameters.get("version")
    if target is None:
        return _version_with_files_of(log, restore.version, oldest)
    return min(int(target), restore.version - 1)


def _version_with_files_of(log: Log, restore: int, oldest: int) -> int:
    """The version before `restore` that had the same files; one before `oldest` when none since then had.

    A RESTORE by time does not say which version it found: its time is in a zone the log does
    not name, and engines do not agree on when a version was made. Its files tell.
    """
    difference: Counter[str] = Counter()
    for version in range(restore, oldest, -1):
        added, removed = log.file_changes(version)
        difference.update(added)
        difference.subtract(removed)
        if not any(difference.values()):
            return version - 1
    return oldest - 1
