"""Batches of an incremental pipeline: each begins where the target says that the last one ended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from deltaworks import failpoints
from deltaworks.errors import RefusedError
from deltaworks.lake.commit import Commit, Mark, Position, incremental_app_id
from deltaworks.runs.process import Process, user_name
from deltaworks.spark.errors import explained

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaworks.lake.positions import Reached
    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.runs.result import LoadResult
    from deltaworks.spark.sources.incremental import Continues


def continuing(config: PipelineConfig) -> Continues:
    """The source of an incremental pipeline, which the check of its file has seen to."""
    return cast("Continues", config.extract)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a run begins, and what the target says about the runs before."""

    source: str  # which source the position is of
    position: Any  # where the next batch begins
    batch: int  # the number of the last one
    reached: Reached | None  # none where nothing counts of what was there before


def start_of(config: PipelineConfig, *, refresh: bool = False) -> Start:
    """Find out where to go on, and refuse where going on could lose or double rows."""
    source, sink, pipeline = continuing(config), config.load, config.pipeline_id
    identity = source.identity()
    with explained("load"):
        found = None if refresh else sink.reached(pipeline)
        batch = found.batch if found else sink.last_batch(pipeline)
        if not (refresh or found) and (other := next(iter(sink.others(pipeline, identity)), None)):
            raise RenamedError(sink.place, pipeline, other)
    if found is None:
        return Start(source=identity, position=source.beginning(), batch=batch, reached=None)
    if found.position.source != identity:
        raise OtherSourceError(pipeline, found, identity)
    if found.position.end is None:  # somebody said that it begins anew
        return Start(source=identity, position=source.beginning(), batch=batch, reached=found)
    source.require_there(found.position.end)
    return Start(source=identity, position=found.position.end, batch=batch, reached=found)


class Chain:
    """The batches of one run, of which none may be missing and none be another run's."""

    def __init__(self, config: PipelineConfig, run_id: str, start: Start) -> None:
        self._sink, self._pipeline, self._run_id = config.load, config.pipeline_id, run_id
        self._source, self._reached = start.source, start.reached
        self.position, self.batch = start.position, start.batch

    def commit(self, end: Any, inputs: Mapping[str, str], *, refresh: bool = False) -> Commit:
        """Decide the commit of the next batch; refuses where another run has moved the position meanwhile."""
        failpoints.reach("before_decision")
        table = self._sink.target()
        if not refresh:
            self._require_ours()
        # A refresh takes the place of whatever has landed meanwhile, too.
        number = (self._sink.last_batch(self._pipeline) if refresh else self.batch) + 1
        start = None if refresh else self.position
        return Commit(
            run_id=self._run_id,
            pipeline=self._pipeline,
            batch=number,
            position=Position(source=self._source, start=start, end=end),
            user=user_name(),
            host=Process.current().host,
            inputs=inputs,
            mark=Mark(incremental_app_id(self._pipeline), number),
            seen=table.version if table else -1,
            table=table.id if table and not refresh else None,
        )

    def landed(self, commit: Commit, result: LoadResult) -> LoadResult:
        """Go on behind a batch, once its commit was read back and is ours."""
        if result.already_landed:
            raise TakenOverError(self._pipeline, commit.batch or 0, self._now_by() or result.landed_by)
        failpoints.reach("before_cache")
        self._reached = self._sink.landed(commit, result)
        assert commit.position is not None
        self.position, self.batch = commit.position.end, self._reached.batch
        return replace(result, batches=1)

    def _require_ours(self) -> None:
        """See that the position is where this run left it: nothing else may have landed in between."""
        found, ours = self._sink.reached(self._pipeline), self._reached
        now, then = ((each.batch, each.run_id, each.position.end) if each else None for each in (found, ours))
        if now != then:
            raise TakenOverError(self._pipeline, self.batch + 1, found.by if found else None)

    def _now_by(self) -> str | None:
        found = self._sink.reached(self._pipeline)
        return found.by if found else None


def since(found: Reached | None) -> str:
    """When the last batch landed, as people read it."""
    if found is None or found.at is None:
        return "the beginning"
    return f"{datetime.fromtimestamp(found.at / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


class TakenOverError(RefusedError):
    """Another run of the same pipeline has moved the position; the batch of this one did not land."""

    def __init__(self, pipeline: str, batch: int, by: str | None) -> None:
        super().__init__(
            f"Pipeline {pipeline!r} was taken over by {by or 'another run'}: batch {batch} of this run did not land.",
            hint="Let one copy run at a time. Nothing is lost: the next run begins where the table says.",
        )


class OtherSourceError(RefusedError):
    """The position in the table is one of another source."""

    def __init__(self, pipeline: str, found: Reached, identity: str) -> None:
        super().__init__(
            f"extract: pipeline {pipeline!r} has read {found.position.source} so far, and the file names {identity} "
            "now: its position means nothing there.",
            hint="Give the file back its source; or load everything anew with `deltaworks run FILE --full-refresh`.",
        )


class RenamedError(RefusedError):
    """Another pipeline has read the same source into the same table: its rows would land twice."""

    def __init__(self, target: str, pipeline: str, other: str) -> None:
        super().__init__(
            f"{target} holds a position of the same source by pipeline {other!r}: all its rows would land again "
            f"as those of {pipeline!r}.",
            hint=f"If this is the same pipeline under a new name: `deltaworks state adopt FILE {other}`; "
            "for a new beginning: `deltaworks run FILE --full-refresh`.",
        )
