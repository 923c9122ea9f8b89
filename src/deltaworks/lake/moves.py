"""Moving a position without a row: a commit that holds a mark, and says where to go on and why."""

from __future__ import annotations

import time
import uuid
from importlib.metadata import version
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from deltaworks import failpoints
from deltaworks.errors import ConflictError
from deltaworks.lake.commit import Mark, incremental_app_id
from deltaworks.lake.features import require_writable
from deltaworks.lake.landing import Landing, landed
from deltaworks.lake.positions import Reached, of_commit, remember
from deltaworks.lake.storage import UnreachableError
from deltaworks.lake.table import newest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deltaworks.lake.commit import Commit
    from deltaworks.lake.log import LoggedCommit
    from deltaworks.lake.table import Table

OPERATION = "MOVE POSITION"
MOST_TRIES = 20
TIMESTAMPS = "delta.enableInCommitTimestamps"


def move(table: Table, commit: Commit) -> Reached:
    """Let a pipeline go on from elsewhere: a commit without files, decided on this version of the table.

    It is put where there is none, as the next version. Where another writer was faster, it is tried again only
    if what came between left alone all that it was decided on: the marks, the rows that stand, the table itself.
    """
    marks = _marks(table, commit)
    for _ in range(MOST_TRIES):
        require_writable(table)
        found = _put(table, commit, marks)
        if found is not None:
            return _noted(table, commit, found)
        table, commit = _newer(table, commit, marks), commit.again()
    raise OvertakenError(table.uri, commit, "other writers")


def _marks(table: Table, commit: Commit) -> tuple[Mark, ...]:
    """The mark, and the one by which a pipeline is told that another goes on in its place."""
    assert commit.mark is not None
    if (table.mark(commit.mark.app_id) or 0) >= commit.mark.version:
        raise OvertakenError(table.uri, commit, "another run")
    if commit.adopts is None:
        return (commit.mark,)
    old = incremental_app_id(commit.adopts)
    return commit.mark, Mark(old, (table.mark(old) or 0) + 1)


def _put(table: Table, commit: Commit, marks: Sequence[Mark]) -> LoggedCommit | None:
    """Make the next version; none where another writer has made it."""
    lost: UnreachableError | None = None
    failpoints.reach("before_commit")
    try:
        table.log.put(table.version + 1, _actions(table, commit, marks))
    except UnreachableError as error:
        lost = error
    failpoints.reach("after_commit")
    # Whatever storage answered: an answer may be lost, and a second try then meets the first.
    found = landed(table.log, commit, table.version)
    if found.landing is Landing.ABSENT and lost is not None:
        raise lost
    return found.commit if found.landing is Landing.OURS else None


def _actions(table: Table, commit: Commit, marks: Sequence[Mark]) -> Iterator[dict[str, Any]]:
    """All that a writer must say who changes no file, whatever features the table has."""
    now = int(time.time() * 1000)
    info = {
        "timestamp": now,
        "operation": OPERATION,
        "operationParameters": {"pipeline": commit.pipeline, "why": commit.why},
        "readVersion": table.version,
        "isolationLevel": "Serializable",
        "isBlindAppend": True,
        "operationMetrics": {},
        "userMetadata": commit.to_json(),
        "engineInfo": f"deltaworks/{version('deltaworks')}",
        "txnId": str(uuid.uuid4()),
    }
    if table.properties.get(TIMESTAMPS) == "true":  # then it comes first, and never goes back
        info = {"inCommitTimestamp": max(now, (table.log.commit(table.version).timestamp or 0) + 1), **info}
    yield {"commitInfo": info}
    for mark in marks:
        yield {"txn": {"appId": mark.app_id, "version": mark.version, "lastUpdated": now}}


def _newer(table: Table, commit: Commit, marks: Sequence[Mark]) -> Table:
    """The table as it is now; refuses where the commits since then concern what was decided."""
    found = newest(table.log)
    if found is None or found.id != table.id:
        raise OvertakenError(table.uri, commit, "somebody who made it anew")
    apps = {mark.app_id for mark in marks}
    for each in takewhile(lambda since: since.version <= found.version, table.log.since(table.version)):
        if each.operation == "RESTORE":
            raise OvertakenError(table.uri, commit, "a RESTORE")
        if apps & {mark.app_id for mark in each.marks}:
            raise OvertakenError(table.uri, commit, each.ours.by if each.ours else "another program")
    return found


def _noted(table: Table, commit: Commit, landed: LoggedCommit) -> Reached:
    """Where the pipelines stand that the commit moved, noted beside the table."""
    pipelines = filter(None, (commit.pipeline, commit.adopts))
    found = {each: of_commit(table.log, landed, each, table.id) for each in pipelines}
    stands = {pipeline: stand for pipeline, stand in found.items() if stand is not None}
    for pipeline, stand in stands.items():
        remember(table.log, pipeline, stand)
    return stands[commit.pipeline or ""]


class OvertakenError(ConflictError):
    """Somebody else was faster: what was decided counts no more."""

    def __init__(self, uri: str, commit: Commit, by: str) -> None:
        super().__init__(
            f"The position of pipeline {commit.pipeline!r} in {uri} was not moved: it was taken over by {by}.",
            hint="Look at it again with `deltaworks state show FILE`, then decide anew.",
        )
