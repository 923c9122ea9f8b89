"""A pipeline put together, every step checked, before the first row is read."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from deltaworks.lake.mode import WriteMode
from deltaworks.lake.sql import same_each_time
from deltaworks.pipeline.afterwards import check_afterwards
from deltaworks.pipeline.plan import Plan, asked_after
from deltaworks.spark.batch import Batch
from deltaworks.spark.changes import arriving, require_told
from deltaworks.spark.counting import counted
from deltaworks.spark.errors import explained
from deltaworks.spark.hidden import visible
from deltaworks.spark.landing import examined, land
from deltaworks.spark.sources.incremental import Delivered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.lake.commit import Commit
    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.runs.result import LoadResult
    from deltaworks.spark.look import Findings
    from deltaworks.spark.sources import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """The rows after one step."""

    title: str
    rows: DataFrame
    rows_read: Callable[[], int | None] | None = None  # known after the write; none where the sink counts as well


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A pipeline put together up to its write."""

    config: PipelineConfig
    delivered: Delivered
    steps: tuple[Passed, ...]  # in the order the rows pass them, the source first
    plan: Plan

    @property
    def rows(self) -> DataFrame:
        """The rows to write."""
        return self.steps[-1].rows

    def write(self, commit: Commit, *, refresh: bool = False) -> LoadResult:
        """Land the rows; a refresh puts them in the place of all that are there."""
        config = self.config
        batch = Batch(
            rows=self.rows,
            repeats=self._repeats,
            multiplied=any(step.multiplies for step in config.transform),
            unreadable=self.delivered.unreadable,
            settle=self.delivered.settle,
            refresh=refresh,
        )
        result = land(config.load, batch, config.write_mode, commit, rules=config.expect)
        result = replace(result, notes=(*self.plan.write.notes, *result.notes))
        rows_read = self.steps[-1].rows_read
        if rows_read is None or result.already_landed:
            return result
        return replace(result, rows_read=rows_read())

    def looked(self) -> Plan:
        """The plan, with what a look at the rows tells; writes nothing."""
        config = self.config
        return self.told(examined(config.load, self.rows, config.write_mode, config.expect))

    def told(self, findings: Findings | None) -> Plan:
        """The plan, with what a look at the rows has told."""
        if findings is None:
            return self.plan
        load, mode = self.config.load, self.config.write_mode
        write = load.plan(arriving(self.rows, load, mode), mode, findings)
        return replace(self.plan, write=write, rows=findings.rows, broken=dict(findings.broken))

    @property
    def _repeats(self) -> bool:
        steps = all(step.repeats for step in self.config.transform)
        return steps and self.delivered.repeats and same_each_time(*(rule.check for rule in self.config.expect))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """What exactly will be read: decided before the first action, by each source in its own way."""

    extract: Any
    inputs: Mapping[str, Any] = field(default_factory=dict)


@contextmanager
def held(config: PipelineConfig) -> Iterator[Spans]:
    """Fix what every source of the pipeline will read, and keep it there until the end."""
    with held_inputs(config) as inputs, ExitStack() as source:
        yield Spans(extract=_held(config.extract, "extract", source), inputs=inputs)


@contextmanager
def held_inputs(config: PipelineConfig) -> Iterator[Mapping[str, Any]]:
    """The same of the sources beside `extract`."""
    with ExitStack() as sources:
        yield {name: _held(each, f"inputs.{name}", sources) for name, each in config.inputs.items()}


def _held(source: Source, where: str, sources: ExitStack) -> Any:
    with explained(where):
        return sources.enter_context(source.held())


@contextmanager
def prepared(config: PipelineConfig, spans: Spans, spark: SparkSession) -> Iterator[Prepared]:
    """Put the whole pipeline together up to the write; every step is checked, no row is read."""
    with explained("extract"):
        source, span = config.extract, spans.extract
        delivered = Delivered(
            rows=source.read(spark, span),
            said=source.describe(span),
            repeats=source.repeats,
            unreadable=source.unreadable(spark, span),
            remarks=source.remarks(span),
        )
    with assembled(config, delivered, spans.inputs, spark) as ready:
        yield ready


@contextmanager
def assembled(
    config: PipelineConfig, delivered: Delivered, spans: Mapping[str, Any], spark: SparkSession
) -> Iterator[Prepared]:
    """The same for rows that a source has delivered; inputs that are kept in memory are let go at the end."""
    with ExitStack() as memory:
        inputs = {name: _input(name, source, spark, spans, memory=memory) for name, source in config.inputs.items()}
        steps = tuple(_passed(config, delivered, inputs))
        plan = _planned(config, delivered, spans, steps[-1].rows)
        yield Prepared(config=config, delivered=delivered, steps=steps, plan=plan)


def _planned(config: PipelineConfig, delivered: Delivered, spans: Mapping[str, Any], rows: DataFrame) -> Plan:
    _check_rules(config, rows)
    with explained("load"):
        require_told(rows, config.load, config.write_mode, changes=config.extract.tells_changes)
        write = config.load.plan(arriving(rows, config.load, config.write_mode), config.write_mode)
        check_afterwards(config.load)
    return Plan(
        pipeline_id=config.pipeline_id,
        mode=config.write_mode.value,
        reads=delivered.said,
        inputs=read_of_inputs(config, spans),
        steps=tuple(f"{step.type}: {step.describe()}" for step in config.transform),
        write=write,
        after=asked_after(config.load),
        notes=_notes(config, delivered, spans),
    )


def read_of_inputs(config: PipelineConfig, spans: Mapping[str, Any]) -> dict[str, str]:
    """What is read of each source beside `extract`, in one line."""
    return {name: source.describe(spans[name]) for name, source in config.inputs.items()}


def _notes(config: PipelineConfig, delivered: Delivered, spans: Mapping[str, Any]) -> tuple[str, ...]:
    ways = (note for end in config.ends for note in end.notes)
    remarks = (remark for name, source in config.inputs.items() for remark in source.remarks(spans[name]))
    return tuple(dict.fromkeys((*ways, *delivered.remarks, *remarks, *_by_partition(config))))


def _by_partition(config: PipelineConfig) -> tuple[str, ...]:
    if config.extract.incremental is None or config.write_mode is not WriteMode.OVERWRITE:
        return ()
    return ("each batch replaces the partitions it holds: the source has to deliver whole partitions at once",)


def _passed(config: PipelineConfig, delivered: Delivered, inputs: Mapping[str, DataFrame]) -> Iterator[Passed]:
    rows_read = None
    rows = delivered.rows if _by_order(config) else visible(delivered.rows)
    yield Passed(title="extract", rows=rows)
    for number, step in enumerate(config.transform):
        if step.gathers and rows_read is None:
            rows, rows_read = counted(rows)
        title = f"transform[{number}] {step.type}"
        with explained(title, rows.columns):
            rows = step.apply(rows if step.keeps_order else visible(rows), inputs)
            _ = rows.schema  # Spark Connect finds mistakes only when asked for the schema
        yield Passed(title=title, rows=rows, rows_read=rows_read)


def _by_order(config: PipelineConfig) -> bool:
    """Whether the load wants to know which row of a key is the newest."""
    keys = config.load.row_keys(config.write_mode)
    changes = config.extract.tells_changes and config.load.applies_changes(config.write_mode)
    return keys is not None and (keys.on_duplicate is None or changes)


def _check_rules(config: PipelineConfig, rows: DataFrame) -> None:
    for rule in config.expect:
        with explained(f"expect {rule.name}", rows.columns):
            _ = rows.where(rule.kept).schema


def _input(name: str, source: Source, spark: SparkSession, spans: Mapping[str, Any], *, memory: ExitStack) -> DataFrame:
    with explained(f"inputs.{name}"):
        rows = visible(source.read(spark, spans[name]))
        if source.cache and not rows.storageLevel.useMemory:  # kept already: by another run, or the session's owner
            memory.callback(rows.cache().unpersist)
        return rows
