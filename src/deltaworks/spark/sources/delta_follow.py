"""Where a reader of a Delta table's new rows or changes stands, and whether it can go on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from deltaworks.errors import ConfigError, RefusedError
from deltaworks.lake.additions import grouped, lost, turns
from deltaworks.lake.feed import require_feed, require_recording
from deltaworks.lake.feed_columns import require_columns, require_columns_of
from deltaworks.lake.metadata import metadata_in
from deltaworks.lake.remains import require_files
from deltaworks.lake.table import table_of
from deltaworks.lake.versions import told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from deltaworks.lake.additions import Group, Ignored, Turn
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
            # Delta cannot spell that nothing was read of version 0; as rows, it is what it changed.
            "isStartingVersion": self.snapshot or self == DeltaPosition(0),
        }
        return json.dumps(fields, separators=(",", ":"))

    def __str__(self) -> str:
        whole = "all rows of version" if self.snapshot else "version"
        return f"{whole} {self.version}" + (f", file {self.index + 1}" if self.index != FIRST else "")


def require_followable(log: Log, position: DeltaPosition, *, feed: bool, ignored: Ignored) -> None:
    """See that nothing since the position was taken away by vacuum or log clean-up, or never recorded."""
    latest = table_of(log).version
    start = position.version
    if start > latest + 1:
        raise GapError(log.uri, f"it is at version {latest} only, and versions up to {start - 1} were read")
    try:
        if position.snapshot:
            require_files(log, start, latest)
            position = DeltaPosition(start + 1)
        _require_versions(log, position, latest, feed=feed, ignored=ignored)
    except StartLostError as error:
        raise GapError(log.uri, error.why) from error
    except ConfigError as error:
        raise GapError(log.uri, str(error).rstrip(".")) from error


def require_start(log: Log, start: int, *, feed: bool, ignored: Ignored) -> None:
    """See that a version can be read from that somebody named, up to the latest one."""
    latest = table_of(log).version
    if start > latest + 1:
        raise StartAheadError(log.uri, start, latest)
    if feed:
        require_recording(log, latest)
    _require_versions(log, DeltaPosition(start), latest, feed=feed, ignored=ignored)


def _require_versions(log: Log, position: DeltaPosition, latest: int, *, feed: bool, ignored: Ignored) -> None:
    wanted = range(position.version, latest + 1)
    if not wanted:
        return
    _require_kept(log, wanted)
    if feed:
        require_feed(log, wanted[0], latest)
        if any(metadata_in(log.actions(version)) for version in wanted):
            require_columns(log, wanted[0], latest, latest)
    elif gone := lost(log, list(_turns(log, position, latest, ignored))):
        why = f"vacuum removed files of version {gone[0]}, which were not read yet"
        raise StartLostError(log.uri, wanted[0], why, range(gone[-1] + 1, latest + 1))


def _require_kept(log: Log, wanted: range) -> None:
    kept = set(log.versions())
    gone = [version for version in wanted if version not in kept]
    if gone:
        why = f"log clean-up removed version {gone[0]}, which was not read yet"
        raise StartLostError(log.uri, wanted[0], why, range(gone[-1] + 1, wanted.stop))


def _turns(log: Log, position: DeltaPosition, latest: int, ignored: Ignored) -> Iterator[Turn]:
    return turns(log, position.version, latest, ignored=ignored, read=position.index + 1)


def new_files(log: Log, position: DeltaPosition, latest: int, *, ignored: Ignored) -> tuple[Group, ...]:
    """The files that were added since a position, in groups that can be read; the last one at the latest version."""
    found = tuple(grouped(_turns(log, position, latest, ignored), ignored=ignored))
    if earlier := [each.version for each in found[:-1]]:
        _require_readable(log, position.version, earlier)
        require_columns_of(log, earlier, latest)
    return found


def _require_readable(log: Log, start: int, versions: Iterable[int]) -> None:
    readable = log.readable()
    gone = next((version for version in versions if version not in readable), None)
    if gone is not None:
        raise StartLostError(log.uri, start, f"log clean-up removed what version {gone} builds on", readable)


class StartLostError(ConfigError):
    """Versions were to be read from one on of which something is no longer there."""

    def __init__(self, uri: str, start: int, why: str, left: range) -> None:
        super().__init__(
            f"{uri} cannot be read from version {start} on: {why}.",
            hint=f"Start at {told(left)}; or leave the start out, for all rows there are now.",
        )
        self.why = why


class StartAheadError(ConfigError):
    """A start was named that the next version will not be."""

    def __init__(self, uri: str, start: int, latest: int) -> None:
        super().__init__(
            f"{uri} has no version {start} to start at: its newest is version {latest}.",
            hint=f"startingVersion: {latest + 1} reads only what comes.",
        )


class GapError(RefusedError):
    """What should be read next is no longer there: going on would lose rows."""

    def __init__(self, uri: str, why: str) -> None:
        super().__init__(
            f"{uri} cannot be followed from where the last batch ended: {why}.",
            hint="Load everything again with `deltaworks run FILE --full-refresh`; or lose what is gone and go on: "
            "`deltaworks state set FILE --position …`.",
        )
