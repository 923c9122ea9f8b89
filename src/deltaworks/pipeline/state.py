"""Where a pipeline stands in its target, and moving it from there by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from deltaworks.errors import ConfigError, DeltaworksError, RefusedError, SetupError, did_you_mean
from deltaworks.lake.commit import Commit, Mark, Position, incremental_app_id
from deltaworks.lake.positions import GivenUpError, PositionLostError, Reached
from deltaworks.pipeline.incremental import OtherSourceError, continuing, start_of
from deltaworks.runs.process import Process, user_name
from deltaworks.runs.record import new_run_id
from deltaworks.spark.safety import require_creates_once
from deltaworks.spark.sources.incremental import NoPositionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltaworks.lake.proofs import Proofs
    from deltaworks.pipeline.around import Around
    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.spark.sources.incremental import Continues

BEGINNING = "the beginning"
MOST_MOVES = 5


def without_spark(around: Around) -> Around:
    """The same, for whoever must not start Spark."""
    return replace(around, session=_no_session)


def _no_session() -> NoReturn:
    raise SetupError("This needs Spark, to find a table by its name.", hint="Name the table by its path in the file.")


def incremental(config: PipelineConfig, around: Around) -> PipelineConfig:
    """The pipeline with the way to both its ends; refuses one that has no position."""
    if config.extract.incremental is None:
        raise ConfigError(
            f"Pipeline {config.pipeline_id!r} reads all rows each time, so that it has no position.",
            hint="Only a pipeline with `incremental` in its extract has one.",
        )
    return config.located(around)


class Stand(NamedTuple):
    """A position that a target holds, and how people say it."""

    found: Reached
    told: str

    @property
    def at(self) -> str | None:
        """When it was reached, as records spell it."""
        if self.found.at is None:
            return None
        return datetime.fromtimestamp(self.found.at / 1000, UTC).isoformat(timespec="milliseconds")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        found = self.found
        return {
            "batch": found.batch,
            "position": found.position.to_dict(),
            "told": self.told,
            "at": self.at,
            "run": found.run_id,
            "user": found.user,
            "host": found.host,
            "version": found.version,
            "why": found.why,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Where a pipeline stands, and what its next run would make of that."""

    pipeline_id: str
    part: str | None
    target: str
    stand: Stand | None = None  # none where it has never landed anything, or nobody knows
    begins: str | None = None  # where its first run would begin
    end: str | None = None  # where its source ends; none where that could not be asked
    end_unknown: str | None = None  # why
    problem: DeltaworksError | None = None  # why the next run would be refused
    moves: tuple[Stand, ...] = ()  # the last times that somebody moved it, newest first

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "pipeline_id": self.pipeline_id,
            "part": self.part,
            "target": self.target,
            "stand": self.stand.to_dict() if self.stand else None,
            "begins": self.begins,
            "end": self.end,
            "end_unknown": self.end_unknown,
            "problem": str(self.problem) if self.problem else None,
            "hint": self.problem.hint if self.problem else None,
            "moves": [each.to_dict() for each in self.moves],
        }


def state_of(config: PipelineConfig) -> State:
    """Say where a pipeline stands; what is wrong there is told and not raised. It is located."""
    source, sink, pipeline = continuing(config), config.load, config.pipeline_id
    known, lost = _tried(lambda: sink.last_known(pipeline))
    _, refused = _tried(lambda: sink.reached(pipeline))
    start, unready = _tried(lambda: start_of(config))
    end, unknown = _tried(source.end)
    moves, _ = _tried(lambda: [_stand(source, each) for each in islice(sink.moves(pipeline), MOST_MOVES)])
    return State(
        pipeline_id=pipeline,
        part=config.part,
        target=sink.place,
        stand=_stand(source, known) if known else None,
        begins=_told(source, start.position) if start and start.reached is None else None,
        end=None if unknown else _told(source, end),
        end_unknown=str(unknown) if unknown else None,
        problem=lost or refused or unready,
        moves=tuple(moves or ()),
    )


def _tried(ask: Callable[[], Any]) -> tuple[Any, DeltaworksError | None]:
    try:
        return ask(), None
    except DeltaworksError as error:
        return None, error


def _stand(source: Continues, found: Reached) -> Stand:
    return Stand(found, _told(source, found.position.end))


def _told(source: Continues, position: Any) -> str:
    if position is None:
        return BEGINNING
    try:
        return source.told(position)
    except (ValueError, TypeError, LookupError, AttributeError):  # of another source than the file names now
        return json.dumps(position, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A position about to be moved: looked at, and not done."""

    config: PipelineConfig
    commit: Commit
    before: str  # as people say it
    after: str

    def to_dict(self, done: Reached | None = None) -> dict[str, Any]:
        """Plain values, for JSON."""
        assert self.commit.position is not None
        return {
            "pipeline_id": self.config.pipeline_id,
            "part": self.config.part,
            "target": self.config.load.place,
            "batch": self.commit.batch,
            "position": self.commit.position.to_dict(),
            "from": self.before,
            "to": self.after,
            "adopts": self.commit.adopts,
            "why": self.commit.why,
            "done": done is not None,
            "version": done.version if done else None,
        }


def rewind(config: PipelineConfig, version: int, why: str | None = None) -> Move:
    """Go on from where the rows ended that the target had at a version."""
    config.load.require_movable()
    seen = _seen(config)
    found = config.load.at_version(config.pipeline_id, version)
    if found is None:
        raise RefusedError(
            f"Pipeline {config.pipeline_id!r} had landed nothing in {config.load.place} up to version {version}.",
            hint="Load everything again with `deltaworks run FILE --full-refresh`.",
        )
    _require_there(config, found)
    return _move(config, seen, found.position, why or f"state rewind --to-version {version}")


def set_to(config: PipelineConfig, text: str, why: str | None = None) -> Move:
    """Go on from a position that somebody wrote; `null` is the beginning."""
    config.load.require_movable()
    seen, source = _seen(config), continuing(config)
    position = None if text.strip() == "null" else source.understood(text)
    if position is not None:
        try:
            source.require_there(position)
        except RefusedError as error:
            raise NoPositionError(
                text, f"{error}".rstrip("."), hint="See where the source ends: `deltaworks state show FILE`."
            ) from error
    return _move(config, seen, Position(source=source.identity(), end=position), why or f"state set --position {text}")


def keep(config: PipelineConfig, why: str | None = None) -> Move:
    """Go on from the position although the rows before it are gone."""
    config.load.require_movable()
    seen = _seen(config)
    _, refused = _tried(lambda: config.load.reached(config.pipeline_id))
    if refused is None:
        raise RefusedError(
            f"No row before the position of pipeline {config.pipeline_id!r} was taken back.",
            hint="There is nothing to decide: run it.",
        )
    found = config.load.last_known(config.pipeline_id) if isinstance(refused, RefusedError) else None
    if found is None or found.adopted_by is not None:
        raise refused
    return _move(config, seen, found.position, why or "state keep")


def adopt(config: PipelineConfig, old: str, why: str | None = None) -> Move:
    """Go on from where a pipeline of another name got, which is given up."""
    config.load.require_movable()
    sink, pipeline, seen = config.load, config.pipeline_id, _seen(config)
    own, lost = _tried(lambda: sink.last_known(pipeline))
    if lost is not None or (own is not None and own.adopted_by is None):
        raise RefusedError(
            f"Pipeline {pipeline!r} has a position of its own in {sink.place}: {own.by if own else lost}.",
            hint="Move it with `deltaworks state set FILE --position …`, or give the file another pipelineId.",
        )
    others = list(sink.others(pipeline, continuing(config).identity()))
    if old not in others:
        raise ConfigError(
            f"No pipeline {old!r} holds a position of this source in {sink.place}.", hint=did_you_mean(old, others)
        )
    found = sink.reached(old)
    assert found is not None
    return _move(config, seen, found.position, why or f"state adopt {old}", adopts=old)


def carry_out(move: Move, proofs: Proofs) -> Reached:
    """Move the position, as a commit that says who did it and why."""
    require_creates_once(move.config.load, proofs)
    return move.config.load.move(move.commit)


def _require_there(config: PipelineConfig, found: Reached) -> None:
    """See that the next run could go on from there: else it would be refused, and the old position be gone."""
    source = continuing(config)
    if found.position.source != source.identity():
        raise OtherSourceError(config.pipeline_id, found, source.identity())
    if found.position.end is not None:
        source.require_there(found.position.end)


def _seen(config: PipelineConfig) -> int:
    # Asked before anything else: what happens while we decide lies after it.
    table = config.load.target()
    return table.version if table else -1


def _move(config: PipelineConfig, seen: int, to: Position, why: str, *, adopts: str | None = None) -> Move:
    source, sink, pipeline = continuing(config), config.load, config.pipeline_id
    known, lost = _tried(lambda: sink.last_known(pipeline))
    if lost is not None and not isinstance(lost, PositionLostError):
        raise lost
    if known is not None and known.adopted_by is not None and adopts is None:
        raise GivenUpError(sink.place, pipeline, known)  # two would go on from there
    number = sink.last_batch(pipeline) + 1
    commit = Commit(
        run_id=new_run_id(),
        pipeline=pipeline,
        batch=number,
        position=replace(to, start=known.position.end if known else None),
        user=user_name(),
        host=Process.current().host,
        why=why,
        adopts=adopts,
        mark=Mark(incremental_app_id(pipeline), number),
        seen=seen,
    )
    before = _told(source, known.position.end) if known else "unknown" if lost else "nothing yet"
    return Move(config=config, commit=commit, before=before, after=_told(source, to.end))
