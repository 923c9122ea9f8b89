"""Where a reader of a Delta table's new rows or changes stands, and whether it can go on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from deltaworks.errors import ConfigError, RefusedError
from deltaworks.lake.datafiles import names
from deltaworks.lake.feed import require_feed
from deltaworks.lake.feed_columns import require_columns
from deltaworks.lake.metadata import metadata_in
from deltaworks.lake.remains import require_files
from deltaworks.lake.table import table_of

if TYPE_CHECKING:
    from deltaworks.lake.log import Log

FIRST = -1  # before the first file of a version


@dataclass(frozen=True, slots=True)
class DeltaPosition:
    """What was read so far: all before a version and, of that version, the files up to an index."""

    version: int
    index: int = FIRST
    snapshot: bool = False  # the version is read whole, as it stands, and not what it changed

    @classmethod
    def of(cls, position: Any) -> Self:
        """Understand a position as a commit spells it."""
        return cls(position["version"], position.get("index", FIRST), position.get("snapshot", False))

    @classmethod
    def checked(cls, position: Any) -> Self:
        """Understand a position that a person wrote, who may have meant something else."""
        found = cls.of(position)
        numbers = all(type(number) is int for number in (found.version, found.index))
        if not numbers or found.version < 0 or found.index < FIRST or type(found.snapshot) is not bool:
            raise ValueError(position)
        return found

    @classmethod
    def of_offset(cls, offset: str) -> Self:
        """Understand it as Delta spells it."""
        found = json.loads(offset)
        return cls(found["reservoirVersion"], max(found["index"], FIRST), found["isStartingVersion"])

    def to_dict(self) -> dict[str, Any]:
        """Spell it as a commit does."""
        return {"version": self.version, "index": self.index, "snapshot": self.snapshot}

    def to_offset(self, table_id: str) -> str:
        """Spell it as Delta does, to the letter: Spark compares texts to see whether there is something new."""
        fields = {
            "sourceVersion": 1,
            "reservoirId": table_id,
            "reservoirVersion": self.version,
            "index": self.index,
            "isStartingVersion": self.snapshot,
        }
        return json.dumps(fields, separators=(",", ":"))

    def __str__(self) -> str:
        whole = "all rows of version" if self.snapshot else "version"
        return f"{whole} {self.version}" + (f", file {self.index + 1}" if self.index != FIRST else "")


def require_followable(log: Log, position: DeltaPosition, *, feed: bool) -> None:
    """See that nothing since the position was taken away by vacuum or log clean-up, or never recorded."""
    latest = table_of(log).version
    start = position.version
    if start > latest + 1:
        raise GapError(log.uri, f"it is at version {latest} only, and versions up to {start - 1} were read")
    try:
        if position.snapshot:
            require_files(log, start, latest)
            start += 1
        if start <= latest:
            _require_versions(log, start, latest, feed=feed)
    except ConfigError as error:
        raise GapError(log.uri, str(error).rstrip(".")) from error


def _require_versions(log: Log, start: int, latest: int, *, feed: bool) -> None:
    kept = set(log.versions())
    gone = next((version for version in range(start, latest + 1) if version not in kept), None)
    if gone is not None:
        raise GapError(log.uri, f"log clean-up removed version {gone}, which was not read yet")
    if feed:
        require_feed(log, start, latest)
        if any(metadata_in(log.actions(version)) for version in range(start, latest + 1)):
            require_columns(log, start, latest, latest)


def added_since(log: Log, start: int, latest: int) -> list[str]:
    """The names of the data files that were added since a version, and are still part of the table."""
    found: set[str] = set()
    for version in range(start, latest + 1):
        actions = log.actions(version)
        fresh = [action for action in actions if (action.get("add") or {}).get("dataChange")]
        found = (found | names(fresh, "add")) - names(actions, "remove")
    return sorted(name.rpartition("/")[2] for name in found)


class GapError(RefusedError):
    """What should be read next is no longer there: going on would lose rows."""

    def __init__(self, uri: str, why: str) -> None:
        super().__init__(
            f"{uri} cannot be followed from where the last batch ended: {why}.",
            hint="Load everything again with `deltaworks run FILE --full-refresh`; or lose what is gone and go on: "
            "`deltaworks state set FILE --position …`.",
        )
