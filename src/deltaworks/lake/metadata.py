"""What a table said about itself at a version, from the log alone: no engine has to understand the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from deltaworks.lake.log import Log


def properties_at(log: Log, version: int) -> Mapping[str, str]:
    """The table properties as they stood at a version."""
    return next((properties for properties in _back(log, version) if properties is not None), {})


def properties_set(actions: Iterable[Mapping[str, Any]]) -> Mapping[str, str] | None:
    """The table properties that actions wrote down; none when they left them as they were."""
    written = [action["metaData"] for action in actions if action.get("metaData")]
    return dict(written[-1].get("configuration") or {}) if written else None


def _back(log: Log, version: int) -> Iterator[Mapping[str, str] | None]:
    commits, checkpoints = set(log.versions()), log.checkpoints()
    for found in range(version, -1, -1):
        if found in commits:
            yield properties_set(log.actions(found))
        # A checkpoint repeats the last word, so nobody has to look further back.
        for name in checkpoints.get(found, ()):
            yield properties_set(log.lines(name) if name.endswith(".json") else log.rows(name, "metaData"))
