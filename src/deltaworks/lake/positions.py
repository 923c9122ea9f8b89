"""How far a pipeline got: the table itself says so, and a small file beside it says where to look."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Self

from deltaworks.errors import RefusedError, RunError
from deltaworks.lake.apps import app_ids
from deltaworks.lake.commit import Mark, Position, incremental_app_id, incremental_pipeline, who
from deltaworks.lake.metadata import metadata_at
from deltaworks.lake.restores import standing, still_there
from deltaworks.lake.storage import AbsentError, UnreachableError
from deltaworks.lake.table import VersionNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from deltaworks.lake.commit import Commit
    from deltaworks.lake.log import Log, LoggedCommit
    from deltaworks.lake.table import Table

OURS = "_deltaworks"  # a folder that no engine's vacuum looks into


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """How far an incremental pipeline got in a table, and the commit that says so."""

    batch: int  # the version of the mark
    position: Position  # its end is where to go on; none is the beginning
    run_id: str
    version: int | None = None  # the table's; none where the target has no versions
    seen: int = -1  # the version on which it was decided
    at: int | None = None  # when, in milliseconds since 1970
    user: str | None = None
    host: str | None = None
    table_id: str = ""  # the identity that the table had
    decided_on: str | None = None  # the identity it had when the batch was decided, where that matters
    why: str | None = None  # where somebody moved it: what they said
    adopted_by: str | None = None  # the pipeline that goes on in its place

    @classmethod
    def of(cls, commit: Commit, batch: int, version: int, table_id: str) -> Self:
        """What a commit says that landed as a version."""
        assert commit.position is not None
        return cls(
            batch=batch,
            position=commit.position,
            run_id=commit.run_id,
            version=version,
            seen=commit.seen,
            user=commit.user,
            host=commit.host,
            table_id=table_id,
            decided_on=commit.table,
            why=commit.why,
        )

    @property
    def by(self) -> str:
        """Who got there, as people read it."""
        return who(self.run_id, self.user, self.host)

    @property
    def anew(self) -> bool:
        """Whether it was all there is, in the place of all that had landed before."""
        return self.position.start is None and self.why is None


def reached(log: Log, table: Table | None, pipeline: str) -> Reached | None:
    """Where the pipeline's last batch ended; none where it has never landed one here.

    A position counts only in the commit that holds the pipeline's mark. What the cache says is checked
    against that one commit; where log clean-up took the commit, the cache counts if its mark is the table's.
    A table whose rows went back while the mark did not is refused: nobody may go on from there unasked.
    """
    mark, found = _marked(log, table, pipeline)
    if found is None:
        return None
    if table is None or mark is None or found.table_id != table.id or found.decided_on not in (None, table.id):
        raise RecreatedError(log.uri, pipeline, found.batch)
    if found.adopted_by is not None:
        raise GivenUpError(log.uri, pipeline, found)
    _require_rows_kept(table, pipeline, found)
    return found


def last_known(log: Log, table: Table | None, pipeline: str) -> Reached | None:
    """The same, whatever has happened to the table since."""
    return _marked(log, table, pipeline)[1]


def _marked(log: Log, table: Table | None, pipeline: str) -> tuple[int | None, Reached | None]:
    """The table's mark, and the position that goes with it; without one, what was noted beside a table before."""
    cached = _cached(log, pipeline)
    mark = None if table is None else table.mark(incremental_app_id(pipeline))
    if table is None or mark is None:
        return None, cached
    found = _confirmed(log, cached, mark, pipeline) or _scanned(table, mark, pipeline)
    if found is None:
        raise PositionLostError(log.uri, pipeline, mark)
    return mark, found


def last_batch(log: Log, table: Table | None, pipeline: str) -> int:
    """The highest number that a batch ever had, as far as table or cache know; 0 where there was none.

    Numbers go on where the table was made anew, so that a run that had begun before can be told from one after.
    """
    cached = _cached(log, pipeline)
    mark = None if table is None else table.mark(incremental_app_id(pipeline))
    return max(mark or 0, cached.batch if cached else 0)


def remember(log: Log, pipeline: str, found: Reached) -> None:
    """Note where the position stands, once its commit has been read back."""
    text = json.dumps(asdict(found) | {"position": found.position.to_dict()}, ensure_ascii=False)
    with suppress(UnreachableError):  # it has landed all the same, and the log says so
        log.folder.write(_cache_name(pipeline), text.encode())


def of_commit(log: Log, commit: LoggedCommit, pipeline: str, table_id: str | None = None) -> Reached | None:
    """What a commit says of a pipeline's position; none where it does not hold the pipeline's mark."""
    app_id = incremental_app_id(pipeline)
    number = next((mark.version for mark in commit.marks if mark.app_id == app_id), None)
    ours = commit.ours
    if number is None or ours is None or ours.position is None or pipeline not in (ours.pipeline, ours.adopts):
        return None
    table_id = metadata_at(log, commit.version).id if table_id is None else table_id
    adopted_by = ours.pipeline if ours.adopts == pipeline else None
    return replace(Reached.of(ours, number, commit.version, table_id), at=commit.timestamp, adopted_by=adopted_by)


def at_version(table: Table, pipeline: str, version: int) -> Reached | None:
    """How far the rows went that the table had at a version; none where the pipeline had not begun.

    A RESTORE leaves the mark where it was, so that the rows are followed and not the mark. So does another
    pipeline's full refresh: what had landed before it is not among the rows.
    """
    first = table.log.versions()[0]
    if not first <= version <= table.version:
        raise VersionNotFoundError(table.uri, version, range(first, table.version + 1))
    names = _names(table, pipeline)
    rows = list(
        takewhile(lambda commit: not _anew_by_another(commit, names(commit.version)), standing(table.log, version))
    )
    then = (of_commit(table.log, found, names(found.version)) for found in rows)
    found = next(filter(None, then), None)
    if found is None and first > 0:
        raise PastGoneError(table.uri, pipeline, version, first)
    return found


def _names(table: Table, pipeline: str) -> Callable[[int], str]:
    """Under which name the pipeline made a version: it may have taken another's place since."""
    if len([*filter(None, map(incremental_pipeline, app_ids(table.log)))]) < 2:
        return lambda _: pipeline
    names = {table.version: pipeline}  # by the last version that was made under it
    for found in table.history():
        if found.ours and found.ours.adopts and found.ours.pipeline == names[min(names)]:
            names[found.version - 1] = found.ours.adopts
    return lambda version: names[min(last for last in names if last >= version)]


def require_standing(table: Table, pipeline: str, found: Reached, asked: int) -> None:
    """Refuse to go on behind rows that were taken away since: nobody would load them again."""
    assert found.version is not None
    if found.table_id != table.id:
        raise RecreatedError(table.uri, pipeline, found.batch)
    _require_not_replaced(table, pipeline, found, found.version)
    if not still_there(table, found.version):
        raise RowsGoneError(table.uri, asked, table.version)


def moves(table: Table, pipeline: str, within: int = 100) -> Iterator[Reached]:
    """The times among the last commits that somebody moved the position, newest first."""
    found = (of_commit(table.log, commit, pipeline, table.id) for commit in table.history(within))
    return (each for each in found if each is not None and each.why)


def others(log: Log, table: Table, pipeline: str, source: str) -> Iterator[str]:
    """Other pipelines that hold a position of the same source in this table."""
    for other in sorted(filter(None, map(incremental_pipeline, app_ids(log)))):
        found = None if other == pipeline else last_known(log, table, other)
        if found is not None and found.adopted_by is None and found.position.source == source:
            yield other


def _cache_name(pipeline: str) -> str:
    return f"{OURS}/{pipeline}.json"


def _cached(log: Log, pipeline: str) -> Reached | None:
    try:
        fields: dict[str, Any] = json.loads(log.folder.read(_cache_name(pipeline)))
        where = fields["position"]
        position = Position(source=where["source"], start=where["from"], end=where["to"])
        known = {name: fields[name] for name in Reached.__dataclass_fields__ if name in fields}
        return Reached(
            **known | {"position": position, "batch": int(fields["batch"]), "version": int(fields["version"])}
        )
    except (AbsentError, ValueError, TypeError, KeyError):  # not there, or nothing we wrote: the log is asked
        return None


def _confirmed(log: Log, cached: Reached | None, mark: int, pipeline: str) -> Reached | None:
    """What the cache says, where the one commit that it names says so too, or log clean-up took that one."""
    if cached is None or cached.batch != mark or cached.version is None:
        return None
    try:
        commit = log.commit(cached.version)
    except AbsentError:
        return cached if cached.version < log.versions()[0] else None
    found = of_commit(log, commit, pipeline, cached.table_id)
    return found if found == replace(cached, at=commit.timestamp) else None


def _scanned(table: Table, mark: int, pipeline: str) -> Reached | None:
    """What the newest commit that holds the mark says; a compaction may carry it too, and says nothing."""
    wanted = Mark(incremental_app_id(pipeline), mark)
    holding = (found for found in table.history() if found.holds(wanted) and found.operation != "OPTIMIZE")
    commit = next(holding, None)
    return None if commit is None else of_commit(table.log, commit, pipeline)


def _require_rows_kept(table: Table, pipeline: str, found: Reached) -> None:
    version = found.version if found.version is not None else -1
    if table.version == version and found.seen >= version - 1:
        return  # nothing has happened since, nor in between
    if not still_there(table, version) or any(_restores(table, found.seen, version)):
        raise TakenBackError(table.uri, pipeline, found)
    _require_not_replaced(table, pipeline, found, found.seen)


def _restores(table: Table, after: int, before: int) -> Iterator[LoggedCommit]:
    """The times the table was taken back between two versions."""
    between = takewhile(lambda commit: commit.version > after, table.log.back(before - 1))
    return (commit for commit in between if commit.operation == "RESTORE")


def _require_not_replaced(table: Table, pipeline: str, found: Reached, since: int) -> None:
    """Refuse where another pipeline's full refresh has put its own rows in the place of all."""
    later = takewhile(lambda commit: commit.version > since, standing(table.log, table.version))
    other = next((commit for commit in later if _anew_by_another(commit, pipeline)), None)
    if other is not None and other.ours is not None:
        raise ReplacedError(table.uri, pipeline, found, f"{other.ours.pipeline}, version {other.version}")


def _anew_by_another(commit: LoggedCommit, pipeline: str) -> bool:
    ours = commit.ours
    if ours is None or not ours.anew or ours.pipeline in (None, pipeline) or commit.operation == "OPTIMIZE":
        return False
    return any(incremental_pipeline(mark.app_id) == ours.pipeline for mark in commit.marks)


class TakenBackError(RefusedError):
    """A RESTORE took rows back that a pipeline had landed, while its position stayed where it was."""

    def __init__(self, uri: str, pipeline: str, found: Reached) -> None:
        super().__init__(
            f"{uri} was restored after pipeline {pipeline!r} had landed batch {found.batch} as version "
            f"{found.version}: rows went back, its position did not.",
            hint="Load them again with `deltaworks state rewind FILE --to-version N`, N being the version that was "
            "restored; or go on without them: `deltaworks state keep FILE`.",
        )


class ReplacedError(RefusedError):
    """Another pipeline has put all its rows in the place of those that this one had landed."""

    def __init__(self, uri: str, pipeline: str, found: Reached, by: str) -> None:
        super().__init__(
            f"The rows that pipeline {pipeline!r} had landed in {uri} up to batch {found.batch} were replaced by a "
            f"full refresh of another pipeline: {by}.",
            hint="If that one loads them now, run only that. Load them again with `deltaworks state set FILE "
            "--position null`; or go on without them: `deltaworks state keep FILE`.",
        )


class RecreatedError(RefusedError):
    """The table is another one than the pipeline wrote into."""

    def __init__(self, uri: str, pipeline: str, batch: int) -> None:
        super().__init__(
            f"{uri} is not the table any more into which pipeline {pipeline!r} had landed batch {batch}: it was "
            "dropped, replaced or made anew.",
            hint="Load everything again with `deltaworks run FILE --full-refresh`; or, once there is a table again, "
            "go on from the position without the rows that are gone: `deltaworks state keep FILE`.",
        )


class GivenUpError(RefusedError):
    """Another pipeline goes on in the place of this one."""

    def __init__(self, uri: str, pipeline: str, found: Reached) -> None:
        super().__init__(
            f"Pipeline {pipeline!r} was given up in {uri}: {found.adopted_by!r} goes on in its place since batch "
            f"{found.batch}, by {found.by}.",
            hint=f"Run {found.adopted_by!r} instead; or take the position back with `deltaworks state adopt FILE "
            f"{found.adopted_by}`.",
        )


class RowsGoneError(RefusedError):
    """The rows behind which a pipeline should go on were taken back since."""

    def __init__(self, uri: str, version: int, now: int) -> None:
        super().__init__(
            f"A RESTORE has taken back rows that {uri} had at version {version}: going on behind them would lose them.",
            hint=f"Say --to-version {now}, to go on from where the rows end that it has now; or go on without those "
            "that went: `deltaworks state keep FILE`.",
        )


class PastGoneError(RefusedError):
    """The commits that would tell how far a pipeline had got are gone."""

    def __init__(self, uri: str, pipeline: str, version: int, first: int) -> None:
        super().__init__(
            f"The log of {uri} begins with version {first}, and nothing from there to version {version} says how far "
            f"pipeline {pipeline!r} had got.",
            hint="Name a later version; or say where to go on with `deltaworks state set FILE --position …`.",
        )


class PositionLostError(RunError):
    """The table knows that batches have landed, but no longer how far they got."""

    def __init__(self, uri: str, pipeline: str, batch: int) -> None:
        super().__init__(
            f"{uri} holds batch {batch} of pipeline {pipeline!r}, but neither its log nor its cache says any more "
            "where that batch ended.",
            hint="Say where to go on with `deltaworks state set FILE --position …`; or begin anew: "
            "`deltaworks run FILE --full-refresh`.",
        )
