"""What a run would read next, put together and not written."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from deltaworks.pipeline.following import request_for
from deltaworks.pipeline.incremental import continuing, since, start_of
from deltaworks.pipeline.plan import Plan
from deltaworks.pipeline.prepared import assembled, held, held_inputs, prepared
from deltaworks.runs.record import new_run_id
from deltaworks.spark.errors import explained
from deltaworks.spark.sinks.base import WritePlan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.pipeline.incremental import Start
    from deltaworks.pipeline.prepared import Prepared


@contextmanager
def looked_at(config: PipelineConfig, session: Callable[[], SparkSession]) -> Iterator[Prepared | Plan]:
    """The pipeline up to its write; or only its plan, where an incremental one finds nothing new."""
    with ExitStack() as stack:
        if config.extract.incremental is None:
            spans = stack.enter_context(held(config))
            yield stack.enter_context(prepared(config, spans, session()))
            return
        with explained("extract"):
            start = start_of(config)
            request = request_for(config, new_run_id(), start.position, looks=True)
            delivered = stack.enter_context(continuing(config).following(session(), request))
        if delivered is None:
            yield _nothing_new(config, start)
            return
        spans_of_inputs = stack.enter_context(held_inputs(config))
        yield stack.enter_context(assembled(config, delivered, spans_of_inputs, session()))


def _nothing_new(config: PipelineConfig, start: Start) -> Plan:
    table, source = config.load.target(), continuing(config)
    write = WritePlan(
        target=config.load.place,
        version=table.version if table else None,
        action="nothing: there is nothing new",
        columns=table.columns if table else (),
    )
    return Plan(
        pipeline_id=config.pipeline_id,
        mode=config.write_mode.value,
        reads=f"nothing new since {since(start.reached)}: {source.told(start.position)}",
        steps=tuple(f"{step.type}: {step.describe()}" for step in config.transform),
        write=write,
    )
