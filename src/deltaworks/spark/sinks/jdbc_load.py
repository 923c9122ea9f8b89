"""One load into a database: beside the table first, then in one transaction, and read back."""

from __future__ import annotations

import json
import random
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from deltaworks import failpoints
from deltaworks.errors import ConflictError, DeltaworksError, RunError
from deltaworks.lake.mode import WriteMode
from deltaworks.runs.record import new_run_id, now
from deltaworks.runs.result import LoadResult
from deltaworks.spark.batch import left
from deltaworks.spark.databases.base import BrokenOffError, Relation
from deltaworks.spark.keys import DuplicateKeysError, NullKeysError
from deltaworks.spark.look import MOST_NAMED
from deltaworks.spark.sinks.jdbc_steps import ROW, Steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from deltaworks.lake.commit import Commit, Mark
    from deltaworks.spark.batch import Batch
    from deltaworks.spark.databases.base import Session
    from deltaworks.spark.databases.marks import Put
    from deltaworks.spark.sinks.jdbc import JdbcSink

LONGEST_WAIT = 3.0  # seconds between two tries
STAGING = "deltaworks_{}"
MOST_WRITES = 3  # tries to get every row beside the table once


class ShortenedError(RunError):
    """Times have more digits of a second than their column keeps, and the database would not say a word."""

    def __init__(self, column: str, count: int, digits: int) -> None:
        rows = "1 row has" if count == 1 else f"{count:,} rows have"
        super().__init__(
            f"load: {rows} a finer time in {column!r} than the table keeps ({digits} digits of a second).",
            hint="Nothing was written. Cut it with withColumn and date_trunc, or let the column keep 6 digits.",
        )


class TakenError(Exception):
    """Raised inside a transaction that must not be: another run has put its mark down."""

    def __init__(self, there: Put) -> None:
        super().__init__(there.run_id)
        self.there = there

    def by(self, mark: Mark | None) -> str | None:
        """The run that has landed just this mark; none where only a later one is known."""
        return self.there.run_id if mark and self.there.version == mark.version else None


@dataclass(frozen=True, slots=True, kw_only=True)
class JdbcLoad:
    """Rows on their way into a database."""

    sink: JdbcSink
    mode: WriteMode
    session: Session

    def run(self, batch: Batch, commit: Commit) -> LoadResult:
        """Land the rows once, however many tries that takes."""
        steps = Steps.decided(self.sink, self.session, batch.rows, self.mode)
        begun = new_run_id()  # not the run's id: that one may go on for weeks, and others would take it for killed
        staging = Relation(table=STAGING.format(begun), schema=self.sink.marks_schema)
        if commit.mark is not None:
            self.sink.marks(self.session).prepare()
        self._drop_left(staging, begun)
        with self._beside(steps, staging):
            count = self._staged(steps, batch.rows, staging)
            self._judge(steps, staging)
            failpoints.reach("before_commit")
            result = self._landed(batch, staging, commit, count)
            failpoints.reach("after_commit")
        return result

    def _drop_left(self, staging: Relation, begun: str) -> None:
        """Remove what was begun long ago beside the table and left there."""
        database = self.session.database
        with suppress(DeltaworksError):
            names = database.tables(self.session, staging.schema)
            for name in left(names, staging.table or "", begun, now=datetime.now(UTC)):
                self.session.run(f"DROP TABLE {database.spelled(replace(staging, table=name))}")

    @contextmanager
    def _beside(self, steps: Steps, staging: Relation) -> Iterator[None]:
        """The table beside, which is gone at the end."""
        steps.make_staging(staging)
        try:
            yield
        finally:
            # Through another connection, since this one may be lost; a later load removes what is left.
            with suppress(DeltaworksError), self.session.database.session(self.sink.address) as session:
                session.run(f"DROP TABLE {session.database.spelled(staging)}")

    def _staged(self, steps: Steps, rows: DataFrame, staging: Relation) -> int:
        """Write the rows beside the table; how many they are.

        Spark may do a task twice, and both times its rows are there: then they are written anew.
        """
        name = self.session.database.spelled(staging)
        for _ in range(MOST_WRITES):
            self.sink.writer(steps.sent(rows), name).mode("append").save()
            ((count, distinct),) = self.session.rows(f"SELECT count(*), count(DISTINCT {ROW}) FROM {name}")
            if count == distinct:
                return int(count)
            self.session.run(f"DELETE FROM {name}")
        raise RunError(
            f"Spark wrote some rows twice, {MOST_WRITES} times over.", hint="Nothing has landed; look at Spark's log."
        )

    def _judge(self, steps: Steps, staging: Relation) -> None:
        """Refuse rows that could not land as they are."""
        table = self.session.database.spelled(staging)
        for name, shortened in steps.shortened():
            ((count,),) = self.session.rows(f"SELECT count(*) FROM {table} WHERE {shortened}")
            if count:
                raise ShortenedError(name, int(count), steps.digits[name])
        if self.mode is WriteMode.UPSERT:
            self._judge_keys(table, steps.keys)

    def _judge_keys(self, table: str, keys: tuple[str, ...]) -> None:
        """Refuse null and repeated keys: no index would tell the rows that they belong to."""
        names = [self.session.database.quoted(key) for key in keys]
        some_null = " OR ".join(f"{name} IS NULL" for name in names)
        ((nulls,),) = self.session.rows(f"SELECT count(*) FROM {table} WHERE {some_null}")
        if nulls:
            raise NullKeysError(int(nulls), keys)
        listed = ", ".join(names)
        groups = f"SELECT {listed}, count(*) AS times FROM {table} GROUP BY {listed} HAVING count(*) > 1"
        ((count,),) = self.session.rows(f"SELECT count(*) FROM ({groups}) AS repeated")
        if count:
            found = self.session.rows(f"{groups} ORDER BY times DESC, {listed} LIMIT {MOST_NAMED}")
            named = [(json.dumps(dict(zip(keys, map(str, row), strict=False))), int(row[-1])) for row in found]
            raise DuplicateKeysError(int(count), named)

    def _landed(self, batch: Batch, staging: Relation, commit: Commit, count: int) -> LoadResult:
        while True:
            # Decided anew each time: the table may have come into being, or changed, since the last try.
            steps = Steps.decided(self.sink, self.session, batch.rows, self.mode)
            anew = batch.refresh or self.mode is WriteMode.OVERWRITE
            try:
                landed = self._transaction(steps, staging, commit, count, anew=anew)
                return replace(landed, attempts=commit.attempt)
            except TakenError as taken:
                return LoadResult.landed_before(None, taken.by(commit.mark))
            except BrokenOffError as error:
                self._require_landed(staging, commit, count, error)
                return LoadResult(success=True, rows_read=count, rows_inserted=count, rows_written=count)
            except ConflictError:
                if commit.attempt >= self.sink.max_commit_attempts:
                    raise
            time.sleep(random.uniform(0, min(0.1 * 2**commit.attempt, LONGEST_WAIT)))  # noqa: S311 - jitter, not a secret
            commit = commit.again()

    def _transaction(self, steps: Steps, staging: Relation, commit: Commit, count: int, *, anew: bool) -> LoadResult:
        database, deleted, updated = self.session.database, 0, 0
        with steps.made(), self.session.transaction():
            if commit.mark is not None:
                self._mark(steps, commit)
            if anew:
                deleted = steps.emptied()
            if self.mode is WriteMode.UPSERT:
                updated = steps.matched(staging)
            self.session.run(steps.statement(staging))
            # A row that is gone from beside the table tells, should the answer to the commit be lost, that it landed.
            self.session.run(database.delete_one.format(database.spelled(staging)))
            failpoints.reach("in_transaction")
        kept = 0 if steps.updated else updated
        return LoadResult(
            success=True,
            rows_read=count,
            rows_inserted=count - updated,
            rows_updated=updated - kept,
            rows_deleted=deleted,
            rows_written=count - kept,
        )

    def _mark(self, steps: Steps, commit: Commit) -> None:
        """Put the mark down, and keep others from dropping the table that it is for."""
        if commit.goes_on:
            self.session.rows(f"SELECT 1 FROM {steps.target} WHERE 1 = 0")
        table_id = self.session.database.table_id(self.session, self.sink.relation())
        there = self.sink.marks(self.session).take(commit, now(), table_id, made=steps.there is None)
        if there is not None:
            raise TakenError(there)

    def _require_landed(self, staging: Relation, commit: Commit, count: int, error: BrokenOffError) -> None:
        """Ask the database, whose answer to the commit is lost, whether it landed; where not, the error goes on."""
        with self.session.database.session(self.sink.address) as session:
            if commit.mark is not None:
                there = self.sink.marks(session).found(commit.mark.app_id)
                if there and there.version >= commit.mark.version and there.run_id == commit.run_id:
                    return
                raise error
            ((found,),) = session.rows(f"SELECT count(*) FROM {session.database.spelled(staging)}")
        if found == count - 1:
            return
        if found == count and count:  # of no rows none can be gone
            raise error
        raise RunError(
            f"{error} Whether the rows have landed cannot be known.",
            hint="Look into the table before you run it again.",
        )
