"""Has it landed? The table itself is asked, never a memory of ours."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from deltaworks.errors import RefusedError
from deltaworks.lake.commit import Commit, Mark, keyed_app_id

if TYPE_CHECKING:
    from deltaworks.lake.log import Log, LoggedCommit
    from deltaworks.lake.table import Table

FORGETS_MARKS = "delta.setTransactionRetentionDuration"


class Landing(Enum):
    """What the table says about a commit we tried to make."""

    OURS = "ours"
    TAKEN = "taken"  # the mark is there, but another run put it there
    ABSENT = "absent"


class Landed(NamedTuple):
    """Where a commit was found, and whose it is."""

    landing: Landing
    commit: LoggedCommit | None


def landed(log: Log, commit: Commit, since: int) -> Landed:
    """Say whether `commit` is among the commits after version `since`, and whether it is ours.

    Engines skip a replayed mark without a word, so a write that raised nothing
    proves nothing: only the run id in the commit that holds the mark does. Commits
    that carry our run id but are not the load (an automatic compaction) do not count.
    """
    for found in log.since(since):
        if found.operation == "OPTIMIZE":
            continue
        mine = found.ours is not None and found.ours.run_id == commit.run_id
        if commit.mark is None and mine:
            return Landed(Landing.OURS, found)
        if commit.mark is not None and found.holds(commit.mark):
            return Landed(Landing.OURS if mine else Landing.TAKEN, found)
    return Landed(Landing.ABSENT, None)


class KeyedMark(NamedTuple):
    """The mark a keyed run will use, and the version where the key landed already, if it did."""

    mark: Mark
    landed: LandedKey | None


class LandedKey(NamedTuple):
    """A key that is in the table; the version is unknown when log clean-up removed its commit."""

    version: int | None
    run_id: str | None


def keyed_mark(table: Table | None, pipeline: str, key: str, *, again: bool) -> KeyedMark:
    """Choose the mark for a keyed run; refuses where a mark cannot be trusted."""
    app_id = keyed_app_id(pipeline, key)
    if table is None:
        return KeyedMark(Mark(app_id, 1), None)
    require_marks_kept(table)
    reached = table.mark(app_id)
    if reached is None:
        return KeyedMark(Mark(app_id, 1), None)
    if again:
        return KeyedMark(Mark(app_id, reached + 1), None)
    return KeyedMark(Mark(app_id, reached), _landed_key(table, Mark(app_id, reached), key))


def require_marks_kept(table: Table) -> None:
    """Refuse a table that forgets txn actions after a while: a replay there would land twice."""
    duration = table.properties.get(FORGETS_MARKS)
    if duration is not None:
        raise RefusedError(
            f"{table.uri} forgets which keys have landed after {duration}.",
            hint=f"Run without --key, or first ALTER TABLE … UNSET TBLPROPERTIES ('{FORGETS_MARKS}').",
        )


def _landed_key(table: Table, mark: Mark, key: str) -> LandedKey:
    commit = next((found for found in table.history() if found.holds(mark)), None)
    # A commit that log clean-up removed was older than all that are left.
    version = commit.version if commit else table.log.versions()[0] - 1
    if not _still_there(table, version):
        where = f"as version {version}" if commit else "before the log begins"
        raise RefusedError(
            f"Key {key!r} landed {where}, but a RESTORE has taken that version back.",
            hint="Run with --again to land it once more.",
        )
    return LandedKey(commit.version, commit.ours.run_id if commit.ours else None) if commit else LandedKey(None, None)


def _still_there(table: Table, version: int) -> bool:
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
