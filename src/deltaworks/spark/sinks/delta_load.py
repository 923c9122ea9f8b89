"""One load into a Delta table: planned, tried until it lands, and read back."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deltaworks import failpoints
from deltaworks.errors import DeltaworksError, RunError
from deltaworks.lake.landing import Landing, landed
from deltaworks.lake.positions import RecreatedError
from deltaworks.lake.schema import fingerprint
from deltaworks.runs.result import LoadResult
from deltaworks.spark.catalog import register
from deltaworks.spark.changes import GONE, landing, lasting
from deltaworks.spark.conflicts import Reaction, WriteConflictError
from deltaworks.spark.errors import explained
from deltaworks.spark.sinks.base import WritePlan
from deltaworks.spark.sinks.delta_fit import aligned, check_fit, notes, schema_after, widen
from deltaworks.spark.sinks.delta_steps import files_read, refresh, step_for

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.lake.commit import Commit
    from deltaworks.lake.log import LoggedCommit
    from deltaworks.lake.mode import WriteMode
    from deltaworks.lake.table import Table
    from deltaworks.spark.batch import Batch
    from deltaworks.spark.look import Findings
    from deltaworks.spark.sinks.delta import DeltaSink
    from deltaworks.spark.sinks.delta_write import Create, Merge, Save

LONGEST_WAIT = 3.0  # seconds between two tries


def planned(sink: DeltaSink, rows: DataFrame, mode: WriteMode, findings: Findings | None) -> WritePlan:
    """Say what one commit would do to the table."""
    table, changes = sink.target(), GONE in rows.columns
    rows = landing(rows)
    check_fit(sink, rows, table, mode)
    step = step_for(sink, table, mode, findings, columns=rows.columns if changes else ())
    return WritePlan(
        target=sink.path,
        version=table.version if table else None,
        action=step.action,
        columns=schema_after(sink, rows, table, mode),
        statement=step.statement,
        files_before=table.files.count if table else None,
        files_read=files_read(table, findings) if table else None,
        notes=notes(sink, rows, table, mode),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaLoad:
    """Rows on their way into a table."""

    sink: DeltaSink
    mode: WriteMode

    def run(self, batch: Batch, commit: Commit) -> LoadResult:
        """Commit the rows once, however many tries that takes, and read back what landed."""
        commit = replace(commit, schema=fingerprint(landing(batch.rows).schema.json()))
        while True:
            rows_read, conflict = self._attempt(batch, commit)
            found = landed(self.sink.log, commit, commit.seen)
            if found.landing is Landing.OURS and found.commit:
                result = self._result(found.commit, rows_read, batch.findings)
                return replace(result, notes=self._registered(batch.rows.sparkSession))
            if found.landing is Landing.TAKEN and found.commit:
                theirs = found.commit.ours
                return LoadResult.landed_before(found.commit.version, theirs.run_id if theirs else None)
            if conflict is None:
                return self._nothing_landed(commit)
            self._require_another_try(batch, commit, conflict)
            commit = commit.again()

    def _attempt(self, batch: Batch, commit: Commit) -> tuple[int | None, WriteConflictError | None]:
        # Decided anew each time: the table may have come into being, or changed, since the last try.
        table = self.sink.target()
        if commit.table is not None and (table is None or table.id != commit.table):
            raise RecreatedError(self.sink.path, commit.pipeline or "", (commit.batch or 1) - 1)
        step = self._step(batch, table)
        rows = lasting(batch.rows) if table is None or batch.refresh else batch.rows
        failpoints.reach("before_commit")
        try:
            with explained("load"):
                widen(self.sink, landing(rows), table, self.mode)
                rows_read = step.write(aligned(self.sink, rows, table, self.mode), commit)
        except WriteConflictError as conflict:
            return None, conflict
        failpoints.reach("after_commit")
        return rows_read, None

    def _step(self, batch: Batch, table: Table | None) -> Save | Create | Merge:
        if batch.refresh and table is not None:
            return refresh(self.sink, self.mode)
        changed = landing(batch.rows).columns if GONE in batch.rows.columns else ()
        return step_for(self.sink, table, self.mode, batch.findings, repeats=batch.repeats, columns=changed)

    def _require_another_try(self, batch: Batch, commit: Commit, conflict: WriteConflictError) -> None:
        reaction = conflict.reaction(self.mode)
        if reaction is Reaction.STOP or commit.attempt >= self.sink.max_commit_attempts:
            raise conflict.after(commit.attempt)
        if reaction is Reaction.REPLAN:
            check_fit(self.sink, landing(batch.rows), self.sink.target(), self.mode)
        time.sleep(random.uniform(0, min(0.1 * 2**commit.attempt, LONGEST_WAIT)))  # noqa: S311 - jitter, not a secret

    def _result(self, commit: LoggedCommit, rows_read: int | None, findings: Findings | None) -> LoadResult:
        result = LoadResult.of(commit, rows_read=rows_read)
        if commit.version == 0 or commit.operation not in {"WRITE", "MERGE"}:
            return result
        before = self.sink.at(commit.version - 1)
        if commit.operation == "MERGE":
            return replace(result, files_before=before.files.count, files_read=files_read(before, findings))
        if commit.parameters.get("mode") == "Overwrite":
            # An overwrite does not always say how many rows it took away, but the versions around it do.
            gone = before.rows + result.rows_inserted - self.sink.at(commit.version).rows
            return replace(result, rows_deleted=gone)
        return result

    def _registered(self, spark: SparkSession) -> tuple[str, ...]:
        """Tell the catalog of the table; that it cannot take the name is a note, because the rows have landed."""
        if self.sink.table is None:
            return ()
        try:
            with explained("catalog"):
                register(spark, self.sink.table, self.sink.path)
        except DeltaworksError as error:
            return (f"the catalog does not know {self.sink.table}: {error}",)
        return ()

    def _nothing_landed(self, commit: Commit) -> LoadResult:
        if commit.mark is None:  # no rows, and nothing to remember: Delta makes no commit
            return LoadResult(success=True, rows_read=0, version=self.sink.log.latest())
        raise RunError(
            f"{commit.said} did not land in {self.sink.path}, although Spark raised no error.",
            hint="Run it again: it lands once.",
        )
