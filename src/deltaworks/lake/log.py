"""A table's commits, read as the files they are."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from deltaworks.errors import RunError
from deltaworks.lake.commit import Commit, Mark, parsed
from deltaworks.lake.folder import folder_at
from deltaworks.lake.storage import AbsentError
from deltaworks.vault.storage import access_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from deltaworks.vault.storage import Access

_FILES = ("add", "remove")
_COMMIT = re.compile(r"^(\d{20})\.json$")
_CHECKPOINT = re.compile(r"^\d{20}\.checkpoint\..*parquet$|^\d{20}\.checkpoint\..*json$")
_PART = re.compile(r"^(\d{20})\.checkpoint\.\d{10}\.(\d{10})\.parquet$")


@dataclass(frozen=True, slots=True)
class Files:
    """How many data files, and how large together."""

    count: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCommit:
    """One commit as the log holds it."""

    version: int
    timestamp: int | None
    operation: str | None
    parameters: Mapping[str, Any]
    metrics: Mapping[str, Any]
    ours: Commit | None
    marks: tuple[Mark, ...]
    read_version: int | None
    added: Files
    removed: Files

    def holds(self, mark: Mark) -> bool:
        """Whether this commit is the one that carried `mark`."""
        return mark in self.marks


class Log:
    """The commits of one table, newest last."""

    def __init__(self, uri: str, access: Access | None = None) -> None:
        self.uri = uri
        self.access = access or access_to(uri)
        self.folder = folder_at(uri, self.access)

    def versions(self, after: int = -1) -> tuple[int, ...]:
        """The versions whose commit file is still there, in order; those after one of them cost less to list."""
        names = self.folder.names("_delta_log", after=f"{after:020}.json" if after >= 0 else "")
        return tuple(sorted(int(match[1]) for name in names if (match := _COMMIT.match(name))))

    def readable(self) -> range:
        """The versions time travel can reach: back to the start, or to the oldest checkpoint that is left."""
        versions = self.versions()
        if not versions:
            return range(0)
        # A checkpoint counts when the commits that follow it are there.
        whole = [version for version in self.checkpoints() if version >= versions[0] - 1]
        return range(0 if versions[0] == 0 else min(whole, default=versions[0]), versions[-1] + 1)

    def checkpoints(self) -> dict[int, list[str]]:
        """The versions that were summed up, and the files that do it; one checkpoint may be in several parts."""
        found: dict[int, list[str]] = {}
        for name in _whole(sorted(filter(_CHECKPOINT.match, self.folder.names("_delta_log")))):
            found.setdefault(int(name[:20]), []).append(f"_delta_log/{name}")
        return found

    def latest(self, since: int | None = None) -> int | None:
        """The newest version; none when there is no table here. One that was seen already makes the look shorter."""
        if since is not None and self._is_newest(since):
            return since
        # Most of a long log lies before its last checkpoint, and need not be listed.
        start = self.summed_up() if since is None else since
        return max(self.versions(start - 1) or self.versions(), default=None)

    def _is_newest(self, version: int) -> bool:
        """Whether a version is the last: commits have no gaps, so that two files tell what a listing would."""
        return self.folder.missing([_name(version), _name(version + 1)]) == [_name(version + 1)]

    def summed_up(self) -> int:
        """The version of the last checkpoint, as far as anybody noted it; 0 when nobody did."""
        try:
            return int(json.loads(self.folder.read("_delta_log/_last_checkpoint"))["version"])
        except (AbsentError, ValueError, TypeError, KeyError):
            return 0

    def commit(self, version: int) -> LoggedCommit:
        """Read one commit."""
        return _logged(version, self.actions(version))

    def file_changes(self, version: int) -> tuple[list[str], list[str]]:
        """The data files a commit added, and those it removed; with another deletion vector it is another file."""
        actions = self.actions(version)
        added, removed = ([_identity(action[kind]) for action in actions if kind in action] for kind in _FILES)
        return added, removed

    def times(self) -> dict[int, datetime]:
        """When each version was made; never going backwards, even where clocks did."""
        times: dict[int, datetime] = {}
        latest = datetime.fromtimestamp(0, UTC)
        for version in self.versions():
            made = self.commit(version).timestamp
            latest = latest if made is None else max(latest, datetime.fromtimestamp(made / 1000, UTC))
            times[version] = latest
        return times

    def since(self, version: int) -> Iterator[LoggedCommit]:
        """The commits after `version`, oldest first."""
        found = version
        with suppress(AbsentError):
            while True:
                yield self.commit(found + 1)
                found += 1
        if found == version:  # nothing there, or clean-up was: a listing can tell
            yield from map(self.commit, self.versions(version))

    def back(self, version: int) -> Iterator[LoggedCommit]:
        """The commits up to `version` that are still there, newest first."""
        return (self.commit(found) for found in reversed(self.versions()) if found <= version)

    def put(self, version: int, actions: Iterable[Mapping[str, Any]]) -> bool:
        """Make a commit where there is none of that version; says whether it did, as far as storage told."""
        lines = (json.dumps(action, separators=(",", ":"), ensure_ascii=False) for action in actions)
        return self.folder.create(_name(version), "".join(f"{line}\n" for line in lines).encode())

    def actions(self, version: int) -> list[dict[str, Any]]:
        """What one commit did, action by action."""
        return self.lines(_name(version))

    def lines(self, name: str) -> list[dict[str, Any]]:
        """The actions in a file of JSON lines."""
        try:
            # Not splitlines(): JSON may hold other line separators inside its strings.
            actions = [json.loads(line) for line in self.folder.text(name).split("\n") if line.strip()]
        except ValueError as error:
            raise DamagedLogError(self.uri, name) from error
        if not actions or not all(isinstance(action, dict) for action in actions):
            raise DamagedLogError(self.uri, name)
        return actions

    def rows(self, name: str, kind: str) -> list[dict[str, Any]]:
        """The actions of one kind in a file of Parquet."""
        try:
            return self.folder.column(name, kind)
        except ValueError as error:
            raise DamagedLogError(self.uri, name) from error


class DamagedLogError(RunError):
    """A commit file is empty or cut short."""

    def __init__(self, uri: str, name: str) -> None:
        super().__init__(
            f"The commit file {name} of {uri} is damaged.",
            hint="Restore that file from a backup; nothing was written.",
        )


def _whole(names: list[str]) -> list[str]:
    """The files of checkpoints of which no part is missing: a writer may have been killed between two of them."""
    parts = {name: match.groups() for name in names if (match := _PART.match(name))}
    there = Counter(parts.values())
    return [name for name in names if name not in parts or there[parts[name]] == int(parts[name][1])]


def _name(version: int) -> str:
    return f"_delta_log/{version:020}.json"


def _logged(version: int, actions: list[dict[str, Any]]) -> LoggedCommit:
    info: dict[str, Any] = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
    metadata = info.get("userMetadata")
    txns = [action["txn"] for action in actions if "txn" in action]
    return LoggedCommit(
        version=version,
        timestamp=info.get("inCommitTimestamp", info.get("timestamp")),
        operation=info.get("operation"),
        parameters=info.get("operationParameters") or {},
        metrics=info.get("operationMetrics") or {},
        ours=parsed(metadata if isinstance(metadata, str) else None),
        marks=tuple(Mark(txn["appId"], txn["version"]) for txn in txns),
        read_version=info.get("readVersion"),
        added=_files(actions, "add"),
        removed=_files(actions, "remove"),
    )


def _identity(file: dict[str, Any]) -> str:
    return json.dumps([file["path"], file.get("deletionVector")], sort_keys=True)


def _files(actions: list[dict[str, Any]], kind: str) -> Files:
    sizes = [action[kind].get("size") or 0 for action in actions if kind in action]
    return Files(len(sizes), sum(sizes))
