"""Keyed loads: which mark a key has, and whether it has landed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from deltaworks.errors import RefusedError
from deltaworks.lake.commit import Mark, keyed_app_id
from deltaworks.lake.metadata import metadata_at
from deltaworks.lake.restores import still_there
from deltaworks.lake.retention import require_marks_kept

if TYPE_CHECKING:
    from deltaworks.lake.table import Table


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
    require_marks_kept(table, otherwise="Run without --key, or first ")
    reached = table.mark(app_id)
    if reached is None:
        return KeyedMark(Mark(app_id, 1), None)
    if again:
        return KeyedMark(Mark(app_id, reached + 1), None)
    return KeyedMark(Mark(app_id, reached), _landed_key(table, Mark(app_id, reached), key))


def _landed_key(table: Table, mark: Mark, key: str) -> LandedKey:
    commit = next((found for found in table.history() if found.holds(mark)), None)
    # A commit that log clean-up removed was older than all that are left.
    version = commit.version if commit else table.log.versions()[0] - 1
    where = f"as version {version}" if commit else "before the log begins"
    if not still_there(table, version):
        raise KeyGoneError(key, f"{where}, but a RESTORE has taken that version back")
    if commit and metadata_at(table.log, version).id != table.id:
        raise KeyGoneError(key, f"{where}, but the table was replaced since")
    return LandedKey(commit.version, commit.ours.run_id if commit.ours else None) if commit else LandedKey(None, None)


class KeyGoneError(RefusedError):
    """A key has landed, and its rows are gone."""

    def __init__(self, key: str, where: str) -> None:
        super().__init__(f"Key {key!r} landed {where}.", hint="Run with --again to land it once more.")
