"""What a table said about itself at a version, from the log alone: no engine has to understand the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from deltaworks.lake.log import Log


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The table properties and the columns, in force until the next time they are written down."""

    id: str = ""  # the table's own identity; one that was replaced has another
    properties: Mapping[str, str] = field(default_factory=dict)
    schema_json: str = '{"type":"struct","fields":[]}'


def metadata_at(log: Log, version: int) -> Metadata:
    """What was in force at a version."""
    return next((found for found in _back(log, version) if found is not None), Metadata())


def metadata_in(actions: Iterable[Mapping[str, Any]]) -> Metadata | None:
    """What actions wrote down; none when they left it as it was."""
    written = [action["metaData"] for action in actions if action.get("metaData")]
    if not written:
        return None
    properties = dict(written[-1].get("configuration") or {})
    return Metadata(id=written[-1].get("id", ""), properties=properties, schema_json=written[-1]["schemaString"])


def _back(log: Log, version: int) -> Iterator[Metadata | None]:
    commits, checkpoints = set(log.versions()), log.checkpoints()
    for found in range(version, -1, -1):
        if found in commits:
            yield metadata_in(log.actions(found))
        # A checkpoint repeats the last word, so nobody has to look further back.
        for name in checkpoints.get(found, ()):
            yield metadata_in(log.lines(name) if name.endswith(".json") else log.rows(name, "metaData"))
