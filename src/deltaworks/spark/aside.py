"""Rows that break a rule, kept in a Delta table beside the target."""

from __future__ import annotations

from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING

from deltaworks.errors import ConflictError
from deltaworks.lake.commit import aside_app_id
from deltaworks.lake.expectation import OnFailure, to_set_aside
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.sql import literal
from deltaworks.spark.batch import Batch
from deltaworks.spark.errors import explained
from deltaworks.spark.hidden import visible
from deltaworks.spark.sinks.delta_write import path_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.lake.commit import Commit, Mark
    from deltaworks.lake.expectation import Expectation
    from deltaworks.lake.table import Table
    from deltaworks.runs.result import LoadResult
    from deltaworks.spark.sinks import Sink

    Session = Callable[[], SparkSession]  # for the one who needs it


MOST_TRIES = 10
UNREADABLE = "unreadable"  # what stands in place of a rule
BATCH = "batch"


def set_aside(sink: Sink, batch: Batch, rules: Sequence[Expectation], commit: Commit) -> None:
    """Commit what is not for the target to the table beside it, before the other rows are written.

    A try that failed after this has left its rows there, and may have seen other rows than this one: whoever
    lands removes what is not its own.
    """
    beside = sink.aside()
    strict = [rule for rule in rules if rule.on_failure is OnFailure.SET_ASIDE]
    broken = [broken_rows(visible(batch.rows), strict, commit)] if strict else []
    unreadable = [unreadable_rows(batch.unreadable, commit)] if batch.unreadable else []
    found = reduce(lambda some, more: some.unionByName(more), broken + unreadable)
    for _ in range(MOST_TRIES):  # another try of the same key, at the same time, may be faster
        ours = commit.aside(beside.target())
        if not beside.write(Batch(rows=found, repeats=True), WriteMode.APPEND, ours).already_landed:
            return
    raise ConflictError(
        f"Other tries of the key {commit.key!r} were faster, {MOST_TRIES} times.",
        hint="Nothing was landed; run it again.",
    )


def tidy(sink: Sink, commit: Commit, result: LoadResult, session: Session, *, whole: bool = False) -> None:
    """Once a load has landed, or has lost: see that beside its target there is just what belongs to who landed."""
    if commit.batch is None:
        winner = result.landed_by if result.already_landed else commit.run_id
        if commit.mark is not None and winner is not None:
            _tidy_key(sink, commit.mark, winner, session)
    elif result.already_landed:  # what others have set aside is for the one that landed to judge
        _remove_of_batches(sink, commit, f"run = {literal(commit.run_id)} AND {BATCH} = {commit.batch}", session)
    else:
        tidy_batches(sink, commit, session, whole=whole)


def tidy_batches(sink: Sink, landed: Commit, session: Session, *, whole: bool) -> None:
    """Remove what tries of a batch had set aside that is not the one that landed.

    A batch that was all there is has set aside anew what those before it had.
    """
    others = f"run <> {literal(landed.run_id)} AND {BATCH} {'<=' if whole else '='} {landed.batch}"
    _remove_of_batches(sink, landed, others, session)


def _tidy_key(sink: Sink, mark: Mark, landed_by: str, session: Session) -> None:
    table = sink.aside().target()
    runs = [run for run in _tries(table, aside_app_id(mark)) if run != landed_by] if table else []
    if table and runs:
        _remove(table, f"run IN ({', '.join(map(literal, runs))})", session)


def _remove_of_batches(sink: Sink, commit: Commit, rows: str, session: Session) -> None:
    table = sink.aside().target()
    if table and any(column.name == BATCH for column in table.columns):
        _remove(table, f"pipeline = {literal(commit.pipeline or '')} AND {rows}", session)


def _remove(table: Table, rows: str, session: Session) -> None:
    if table.scan(["run"], rows).read_all().num_rows:
        # Not a load: nobody may take this commit for one that landed.
        with explained("aside"):
            session().sql(f"DELETE FROM {path_name(table.uri)} WHERE {rows}")


def _tries(table: Table, app_id: str) -> Iterator[str]:
    """The runs that have set rows aside under this application id, newest first."""
    number = table.mark(app_id) or 0
    commits = (found for found in table.history() if any(mark.app_id == app_id for mark in found.marks))
    return (found.ours.run_id for found in islice(commits, number) if found.ours) if number else iter(())


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


def _of_run(commit: Commit) -> tuple[str, ...]:
    run = f"{literal(commit.pipeline or '')} AS pipeline", f"{literal(commit.run_id)} AS run"
    # Only batches have a number: a run may land some of them and not the next.
    return run if commit.batch is None else (*run, f"CAST({commit.batch} AS BIGINT) AS {BATCH}")
