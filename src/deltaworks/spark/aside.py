"""Rows that break a rule, kept in a Delta table beside the target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.lake.expectation import OnFailure, to_set_aside
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.sql import literal
from deltaworks.spark.batch import Batch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from deltaworks.lake.commit import Commit
    from deltaworks.lake.expectation import Expectation
    from deltaworks.spark.sinks import Sink


def set_aside(sink: Sink, rows: DataFrame, rules: Sequence[Expectation], commit: Commit) -> None:
    """Commit the rows that break a rule to the table beside the target, once, before the others are written."""
    beside = sink.aside()
    table = beside.target()
    ours = commit.aside(table.version if table else -1)
    if table is not None and ours.mark and (table.mark(ours.mark.app_id) or 0) >= ours.mark.version:
        return  # an earlier try of this load came as far as this
    found = aside_rows(rows, [rule for rule in rules if rule.on_failure is OnFailure.SET_ASIDE], commit)
    beside.write(Batch(rows=found, repeats=True), WriteMode.APPEND, ours)


def aside_rows(rows: DataFrame, rules: Sequence[Expectation], commit: Commit) -> DataFrame:
    """The rows that break a rule, each with the first rule it breaks, all reasons, the run, and the row as JSON."""
    first = " ".join(f"WHEN NOT {rule.kept} THEN {literal(rule.name)}" for rule in rules)
    reasons = ", ".join(f"CASE WHEN NOT {rule.kept} THEN {literal(f'not true: {rule.check}')} END" for rule in rules)
    return rows.where(to_set_aside(rules)).selectExpr(
        f"CASE {first} END AS rule",
        f"concat_ws('; ', {reasons}) AS reason",
        f"{literal(commit.pipeline or '')} AS pipeline",
        f"{literal(commit.run_id)} AS run",
        "to_json(struct(*), map('ignoreNullFields', 'false')) AS row",
    )
