"""Rows that break a rule, kept in a Delta table beside the target."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from deltaworks.lake.expectation import OnFailure, to_set_aside
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.sql import literal
from deltaworks.spark.batch import Batch
from deltaworks.spark.hidden import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from deltaworks.lake.commit import Commit
    from deltaworks.lake.expectation import Expectation
    from deltaworks.spark.sinks import Sink


UNREADABLE = "unreadable"  # what stands in place of a rule


def set_aside(sink: Sink, batch: Batch, rules: Sequence[Expectation], commit: Commit) -> None:
    """Commit what is not for the target to the table beside it, once, before the other rows are written."""
    beside = sink.aside()
    table = beside.target()
    ours = commit.aside(table.version if table else -1)
    if table is not None and ours.mark and (table.mark(ours.mark.app_id) or 0) >= ours.mark.version:
        return  # an earlier try of this load came as far as this
    strict = [rule for rule in rules if rule.on_failure is OnFailure.SET_ASIDE]
    broken = [broken_rows(visible(batch.rows), strict, commit)] if strict else []
    unreadable = [unreadable_rows(batch.unreadable, commit)] if batch.unreadable else []
    found = reduce(lambda some, more: some.unionByName(more), broken + unreadable)
    beside.write(Batch(rows=found, repeats=True), WriteMode.APPEND, ours)


def unreadable_rows(records: DataFrame, commit: Commit) -> DataFrame:
    """The records that could not be read, in the shape of rows that break a rule."""
    return records.selectExpr(f"{literal(UNREADABLE)} AS rule", "reason", *_of_run(commit), "row")


def broken_rows(rows: DataFrame, rules: Sequence[Expectation], commit: Commit) -> DataFrame:
    """The rows that break a rule, each with the first rule it breaks, all reasons, the run, and the row as JSON."""
    first = " ".join(f"WHEN NOT {rule.kept} THEN {literal(rule.name)}" for rule in rules)
    reasons = ", ".join(f"CASE WHEN NOT {rule.kept} THEN {literal(f'not true: {rule.check}')} END" for rule in rules)
    return rows.where(to_set_aside(rules)).selectExpr(
        f"CASE {first} END AS rule",
        f"concat_ws('; ', {reasons}) AS reason",
        *_of_run(commit),
        "to_json(struct(*), map('ignoreNullFields', 'false')) AS row",
    )


def _of_run(commit: Commit) -> tuple[str, str]:
    return f"{literal(commit.pipeline or '')} AS pipeline", f"{literal(commit.run_id)} AS run"
