"""Whether one set of columns can hold all changes of a feed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deltaworks.errors import ConfigError
from deltaworks.lake.datafiles import names
from deltaworks.lake.metadata import Metadata, metadata_at, metadata_in
from deltaworks.lake.versions import told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from deltaworks.lake.log import Log


def require_columns(log: Log, start: int, end: int, latest: int) -> None:
    """See that no column of the changes was renamed, dropped or given another type since.

    Spark reads a feed with the columns of its end where columns are mapped, else with those of the latest version.
    """
    mapped = metadata_at(log, latest).properties.get("delta.columnMapping.mode", "none") != "none"
    last = end if mapped else latest
    wrong = dict(_misfits(log, start, last))
    asked = [version for version in wrong if version <= end]
    if asked:
        raise ColumnsChangedError(log.uri, asked[0], wrong[asked[0]], range(max(wrong) + 1, last + 1))


def require_columns_of(log: Log, versions: Iterable[int], latest: int) -> None:
    """See that the rows of earlier versions go into the columns of the latest one."""
    now = metadata_at(log, latest)
    wrong = {version: columns[0] for version in versions if (columns := _unfit(metadata_at(log, version), now))}
    if wrong:
        first, later = min(wrong), range(max(wrong) + 1, latest + 1)
        raise ColumnsChangedError(log.uri, first, wrong[first], later, what="new rows")


def _misfits(log: Log, first: int, last: int) -> Iterator[tuple[int, str]]:
    """The versions with a column that does not fit the last ones, and that column."""
    before, now = metadata_at(log, first - 1), metadata_at(log, last)
    for version in range(first, last + 1):
        actions = log.actions(version)
        after = metadata_in(actions) or (metadata_at(log, first) if version == first else before)
        # Rows that go while the columns change are read from files that still have the old ones.
        gone = _retyped(before, now) if after != before and names(actions, "remove") else []
        yield from ((version, column) for column in (gone + _unfit(after, now))[:1])
        before = after


def _unfit(old: Metadata, new: Metadata) -> list[str]:
    return _retyped(old, new) + _dropped(old, new)


def _retyped(old: Metadata, new: Metadata) -> list[str]:
    there = _columns(new)
    return [name for name, kind in _columns(old).items() if name in there and there[name] not in {kind, _WIDENED}]


def _dropped(old: Metadata, new: Metadata) -> list[str]:
    return list(_columns(old).keys() - _columns(new).keys())


def _columns(metadata: Metadata) -> dict[str, str]:
    return dict(_leaves(json.loads(metadata.schema_json)))


_WIDENED = "widened"


def _leaves(kind: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(kind, str):
        yield name, kind
        return
    for field in kind.get("fields", ()):
        widened = "delta.typeChanges" in (field.get("metadata") or {})
        yield from _leaves(_WIDENED if widened else field["type"], f"{name}.{field['name']}" if name else field["name"])
    for part in ("elementType", "keyType", "valueType"):
        if part in kind:
            yield from _leaves(kind[part], f"{name}.{part.removesuffix('Type')}")


class ColumnsChangedError(ConfigError):
    """Rows were asked of a version that had other columns than those they are read with."""

    def __init__(self, uri: str, version: int, column: str, readable: range, *, what: str = "change feed") -> None:
        super().__init__(
            f"The {what} of {uri} cannot be read at version {version}: "
            f"column {column!r} was renamed, dropped or given another type since.",
            hint=f"{told(readable).capitalize()} can be read." if readable else "Read the table itself.",
        )
        self.version = version
