"""A table's change feed: which versions it has, and what vacuum left of it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from deltaworks.errors import ConfigError
from deltaworks.lake.datafiles import names
from deltaworks.lake.metadata import Metadata, metadata_at, metadata_in
from deltaworks.lake.versions import told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deltaworks.lake.log import Log


def require_feed(log: Log, start: int, end: int) -> None:
    """See that the changes of all versions from `start` to `end` were recorded and are still there."""
    recorded = set(recorded_since(log, min(start, end)))
    wanted = range(start, end + 1)
    # First the two that were asked for by name: between them may be more than the table ever had.
    lacking = next((version for version in chain((start, end), wanted) if version not in recorded), None)
    if lacking is not None:
        raise _not_recorded(log, lacking)
    if start > end:
        raise NothingBetweenError(log, start, end)
    lost = _lost(log, wanted)
    if lost:
        raise FeedVacuumedError(log, lost[0], _left(log))


def require_recording(log: Log, version: int) -> None:
    """See that the changes after a version will be recorded."""
    if not _recording(metadata_at(log, version)):
        raise _not_recorded(log, version)


def recorded_since(log: Log, start: int) -> list[int]:
    """The versions from `start` on whose changes the table recorded."""
    first = max(start, log.readable()[0])
    kept = [version for version in log.versions() if version >= first]
    recording = bool(kept) and _recording(metadata_at(log, kept[0]))
    recorded = []
    for version in kept:
        metadata = metadata_in(log.actions(version))
        recording = recording if metadata is None else _recording(metadata)
        recorded += [version] if recording else []
    return recorded


def _recording(metadata: Metadata) -> bool:
    return metadata.properties.get("delta.enableChangeDataFeed", "").lower() == "true"


def _not_recorded(log: Log, version: int) -> ConfigError:
    recorded = recorded_since(log, 0)
    return OutsideFeedError(log, version, recorded) if recorded else NoFeedError(log.uri)


def _left(log: Log) -> list[int]:
    """The newest versions of the feed, back to the first that lost a file."""
    recorded = recorded_since(log, 0)
    lost = next(version for version in reversed(recorded) if _lost(log, [version]))
    return [version for version in recorded if version > lost]


def _lost(log: Log, versions: Iterable[int]) -> list[int]:
    files = {version: _files(log.actions(version)) for version in versions}
    missing = set(log.folder.missing(set().union(*files.values())))
    return [version for version in files if files[version] & missing]


def _files(actions: Sequence[Mapping[str, Any]]) -> set[str]:
    """What is read of one commit: its changes where it wrote them down, else the files it added and removed."""
    moved = [action for action in actions if (action.get("add") or action.get("remove") or {}).get("dataChange")]
    return names(actions, "cdc") or names(moved, "add", "remove")


class NoFeedError(ConfigError):
    """Changes were asked of a table that never recorded any."""

    def __init__(self, uri: str) -> None:
        super().__init__(
            f"The table {uri} keeps no change feed.",
            hint="Set enableChangeDataFeed: true where it is written; changes count from then on.",
        )


class OutsideFeedError(ConfigError):
    """Changes were asked of a version at which the table recorded none."""

    def __init__(self, log: Log, version: int, recorded: Sequence[int]) -> None:
        super().__init__(f"The change feed of {log.uri} has no version {version}.", hint=_available(log, recorded))
        self.version = version


class NothingBetweenError(ConfigError):
    """Changes were asked between two times at which the table did not change, or that are swapped."""

    def __init__(self, log: Log, start: int, end: int) -> None:
        super().__init__(
            f"The change feed of {log.uri} would start at version {start} and end at {end}.",
            hint=f"Version {start} was made at {_time(log, start)}: end then or later.",
        )


class FeedVacuumedError(ConfigError):
    """Changes were asked of a version whose change files are gone."""

    def __init__(self, log: Log, version: int, left: Sequence[int]) -> None:
        super().__init__(
            f"The change feed of {log.uri} can no longer be read at version {version}: vacuum removed its files.",
            hint=_available(log, left) if left else "Nothing is left of it; read the table itself.",
        )
        self.version = version


def _available(log: Log, versions: Sequence[int]) -> str:
    return f"It has {told(versions)}, made from {_time(log, versions[0])} to {_time(log, versions[-1])}."


def _time(log: Log, version: int) -> str:
    return f"{log.times()[version]:%Y-%m-%d %H:%M:%S.%f}Z"
