"""What is done to the table once the rows have landed."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from deltaworks.errors import DeltaworksError
from deltaworks.ops import optimize, vacuum
from deltaworks.runs.result import StepResult
from deltaworks.spark.sinks.delta import DeltaSink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from deltaworks.lake.table import Table
    from deltaworks.spark.sinks import Sink


LANDED = "The rows have landed: mend the cause, and the next load does this step again."


def check_afterwards(sink: Sink) -> None:
    """Refuse before the load what could not be done after it."""
    if not isinstance(sink, DeltaSink):
        return
    after, table = sink.afterwards, sink.target()
    if after.vacuum_retention_hours is not None:
        given = {key: str(value) for key, value in sink.table_properties.items()}
        vacuum.require_safe(after.vacuum_retention_hours, table.properties if table else given)
    if table is not None and after.z_order_columns:
        optimize.plan(table, z_order=after.z_order_columns)


def carry_out(
    sink: Sink, session: Callable[[], SparkSession], on_step: Callable[[str], None]
) -> tuple[StepResult, ...]:
    """Do what the file asks for after a load, in order.

    A step that fails is told and does not fail the run: the rows are in
    the table, and running the pipeline again could land them twice.
    """
    return tuple(_tried(name, act, on_step) for name, act in _steps(sink, session))


def _steps(sink: Sink, session: Callable[[], SparkSession]) -> Iterator[tuple[str, Callable[[], Any]]]:
    if not isinstance(sink, DeltaSink) or not sink.afterwards.wanted:
        return
    after, size = sink.afterwards, sink.target_file_size

    def compact() -> Any:
        return optimize.apply(
            optimize.plan(_table(sink), z_order=after.z_order_columns or (), target_file_size=size), session()
        )

    def clean() -> Any:
        return vacuum.apply(vacuum.plan(_table(sink), after.vacuum_retention_hours or 0), session())

    if after.optimize or after.z_order_columns:
        yield ("zOrder" if after.z_order_columns else "optimize"), compact
    if after.vacuum_retention_hours is not None:
        yield "vacuum", clean


def _table(sink: DeltaSink) -> Table:
    table = sink.target()
    assert table is not None, "a load has just landed here"
    return table


def _tried(name: str, act: Callable[[], Any], on_step: Callable[[str], None]) -> StepResult:
    on_step(name)
    started = time.monotonic()
    try:
        done = StepResult(name=name, success=True, **asdict(act()))
    except DeltaworksError as error:
        # Not the error's own hint, which may be to run again: that could land the rows twice.
        done = StepResult(name=name, success=False, error=str(error), hint=LANDED)
    return replace(done, seconds=round(time.monotonic() - started, 3))
