"""New rows of a table: the files that its versions added, and the versions in which they can be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from deltaworks.errors import ConfigError
from deltaworks.lake.datafiles import names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from deltaworks.lake.log import Log

CHANGED = "rows of the source that were read before were changed or deleted"
FOLLOW_CHANGES = (
    "Nothing of it has landed. Read what changed with readChangeFeed: true; or leave it out with ignoreDeletes: true "
    "or ignoreChanges: true."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """What a reader of new rows passes over: versions that only deleted rows, or all that changed or deleted any."""

    deletes: bool = False
    changes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one version means to a reader of new rows."""

    version: int
    added: tuple[str, ...]  # files of rows that it brought, in the order of the commit
    stored: frozenset[str]  # the same as storage has them, with what tells their deleted rows
    removed: frozenset[str]  # files that are no part of the table any more, whatever for
    changed: bool  # rows that were there before are others now, or gone


@dataclass(frozen=True, slots=True)
class Group:
    """Files of new rows, all of which are part of a version as they were when they were added."""

    version: int
    files: frozenset[str]


def turns(log: Log, start: int, latest: int, *, ignored: Ignored, read: int = 0) -> Iterator[Turn]:
    """The versions from one to another, oldest first; of the first some files were read before."""
    for version in range(start, latest + 1):
        yield turn(version, log.actions(version), ignored=ignored, read=read if version == start else 0)


def turn(version: int, actions: Sequence[Mapping[str, Any]], *, ignored: Ignored, read: int = 0) -> Turn:
    """Understand one commit as a stream of Delta's does."""
    changed = bool(_moved(actions, "remove"))
    added = [] if changed and ignored.changes else _moved(actions, "add")[read:]
    return Turn(
        version=version,
        added=tuple(_paths(added, "add")),
        stored=frozenset(names(added, "add")),
        removed=frozenset(names(actions, "remove").union(_paths(actions, "remove"))),
        changed=changed,
    )


def _moved(actions: Iterable[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    """The actions that are about rows, and not only about the files they are in."""
    return [action for action in actions if (action.get(kind) or {}).get("dataChange")]


def _paths(actions: Iterable[Mapping[str, Any]], kind: str) -> list[str]:
    return [unquote(action[kind]["path"]) for action in actions if kind in action]


def grouped(found: Iterable[Turn], *, ignored: Ignored) -> Iterator[Group]:
    """The new files in as few groups as can be: each ends with the version before one of its files goes."""
    version, files = -1, set[str]()
    for each in found:
        _require_only_new(each, ignored)
        if files & each.removed:
            yield Group(version, frozenset(files))
            files = set()
        version = each.version
        files.update(each.added)
    yield Group(version, frozenset(files))


def _require_only_new(found: Turn, ignored: Ignored) -> None:
    passed = ignored.changes or (ignored.deletes and not found.added)
    if found.changed and not passed:
        raise RowsChangedError(found.version)


def lost(log: Log, found: Sequence[Turn]) -> list[int]:
    """The versions of whose new rows vacuum took some.

    Vacuum keeps what the latest version has: only what a later version took out of the table can be gone.
    """
    later: set[str] = set()
    doubtful: dict[int, frozenset[str]] = {}
    for each in reversed(found):
        doubtful[each.version] = each.stored & later
        later |= each.removed
    missing = set(log.folder.missing(frozenset().union(*doubtful.values())))
    return sorted(version for version, files in doubtful.items() if files & missing)


class RowsChangedError(ConfigError):
    """Only new rows are read, but rows that had been read were changed or deleted."""

    def __init__(self, version: int) -> None:
        super().__init__(f"{CHANGED}, in version {version}", hint=FOLLOW_CHANGES)
        self.version = version
