"""Rows into a database, in one transaction."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from deltaworks.errors import ConfigError, RefusedError, RunError
from deltaworks.lake.commit import Mark, keyed_app_id
from deltaworks.lake.keyed import KeyedMark, LandedKey
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.model import Columns, FromText, Location, Whole, problem
from deltaworks.lake.moves import OvertakenError
from deltaworks.lake.positions import GivenUpError, Reached, RecreatedError
from deltaworks.lake.schema import columns
from deltaworks.lake.storage import one_spelling
from deltaworks.runs.record import now
from deltaworks.runs.result import LoadResult
from deltaworks.spark.databases.marks import Marks
from deltaworks.spark.jdbc import JdbcConnector
from deltaworks.spark.keys import Keys, check_newest
from deltaworks.spark.sinks.base import Sink, WritePlan, beside, refuse_idle
from deltaworks.spark.sinks.delta import aside_at

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame

    from deltaworks.lake.commit import Commit
    from deltaworks.spark.batch import Batch
    from deltaworks.spark.databases.base import Session
    from deltaworks.spark.look import Findings
    from deltaworks.spark.surroundings import Surroundings

AT_LEAST_ONCE = "this database takes rows at least once: a load that fails may leave some of them there"
ONLY_FOR = {
    WriteMode.UPSERT: ("merge_keys", "update_columns", "on_duplicate_keys", "order_by"),
    WriteMode.OVERWRITE: ("overwrite_by",),
}


class JdbcSink(JdbcConnector, Sink):
    """A table of a database. Rows first go to a table beside it, then in one transaction to where they belong.

    A failed load leaves the table as it was. With a key, or incrementally, a load lands once:
    how far it got is kept in the table `deltaworks_positions`, in the same transaction.
    """

    sink_type: Literal["PostgreSQL", "MySQL", "JDBC"]
    """`PostgreSQL`, `MySQL` (MariaDB too), or `JDBC` for any url."""
    table: Annotated[str, Field(min_length=1)]
    """The table, as `name` or `schema.name`; it is made where it is not there."""
    column_types: Annotated[dict[str, str], FromText()] = Field(default_factory=dict)
    """Types of columns, when the table is made, where others than the usual ones are wanted: `{name: varchar(40)}`."""
    staging_schema: str | None = None
    """Where the table beside it and `deltaworks_positions` are made; the table's own schema where none is given. Where
    another schema than this one says how far a pipeline or a key got, the load is refused."""
    overwrite_by: Literal["truncate", "delete"] | None = None
    """For Overwrite: how the old rows go. PostgreSQL truncates, which is quick; MySQL deletes, because its truncate
    cannot be taken back."""
    merge_keys: Columns | None = None
    """For Upsert: the columns that identify a row. The table needs a unique index over them."""
    update_columns: Columns | None = None
    """For Upsert: update only these columns of a row already there; all where none are given."""
    on_duplicate_keys: Literal["fail", "keepNewest"] | None = None
    """For Upsert: a key that several rows have fails the load, or the newest of them by `orderBy` is kept.
    Where nothing is said, the newest record of a topic or change of a feed is kept; all else fails."""
    order_by: Columns | None = None
    """For `keepNewest`: the columns whose largest values make a row the newest."""
    batch_size: Annotated[Whole, Field(ge=1)] = 10_000
    """How many rows are sent at a time."""
    connections: Annotated[Whole, Field(ge=1, le=64)] = 4
    """How many connections may write at once, at most."""
    max_commit_attempts: Annotated[Whole, Field(ge=1)] = 10
    """How often to try the transaction when other writers are in the way."""
    aside_path: Location | None = None
    """A Delta table for rows that break a rule; needed where a rule sets rows aside. Rows that are looked at more than
    once are kept beside it meanwhile, or among the machine's temporary files: a cluster needs a path that all machines
    see."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        self.check_place()
        check_newest(self.on_duplicate_keys, self.order_by)
        if self.overwrite_by == "truncate" and self.known and not self.known.truncates_in_transaction:
            raise problem(f"{self.known.name} cannot take a truncate back", "Write overwriteBy: delete.")
        return self

    @property
    def kind(self) -> str:
        """Its type."""
        return self.sink_type

    @property
    def takes_keys(self) -> bool:
        """A transaction can carry a key."""
        return self.known is not None

    @property
    def jar_groups(self) -> frozenset[str]:
        """The driver's, and those of the storage of what is set aside."""
        s3 = {"s3"} if one_spelling(self.aside_path or "").startswith("s3a://") else set()
        return super().jar_groups | s3

    def located(self, around: Surroundings) -> Self:
        """This sink with its address known, and the way to the storage of what is set aside."""
        found = super().located(around)
        if self.aside_path is None:
            return found
        return found.reached_by(around.access_to(self.aside_path, None, self.storage_options()))

    def check_mode(self, mode: WriteMode) -> None:
        """Upsert needs keys, and a database we know; what is only for another mode is refused."""
        if mode is WriteMode.UPSERT and self.known is None:
            raise problem("Only PostgreSQL and MySQL can be upserted", "Use Append or Overwrite.")
        if mode is WriteMode.UPSERT and not self.merge_keys:
            raise problem("Upsert needs mergeKeys", 'Add mergeKeys: ["id"] under load.connectionParams.')
        refuse_idle(self, mode, ONLY_FOR)

    def check_changes(self, mode: WriteMode) -> None:
        """An upsert here deletes nothing."""
        if mode is WriteMode.UPSERT:
            raise problem(
                "An Upsert into a database deletes nothing, so that deleted rows of the feed would land there",
                "Leave them out with ignoreDeletes: true under extract.connectionParams, and the feed's columns with "
                "dropColumns; or load into a Delta table.",
            )

    def mark_for(self, pipeline: str, key: str, *, again: bool) -> KeyedMark:
        """The mark, which the database keeps."""
        app_id = keyed_app_id(pipeline, key)
        if self.known is None:
            return super().mark_for(pipeline, key, again=again)
        with self.known.session(self.address) as session:
            there, now = self.marks(session).found(app_id), session.database.table_id(session, self.relation())
        if there is None or there.version < 1:
            return KeyedMark(Mark(app_id, 1), None)
        if again:
            return KeyedMark(Mark(app_id, there.version + 1), None)
        if not now or there.table_id not in {"", now}:
            raise RefusedError(
                f"Key {key!r} landed in {self.place}, but the table was dropped or made anew since.",
                hint="Run with --again to land it once more.",
            )
        return KeyedMark(Mark(app_id, there.version), LandedKey(None, there.run_id))

    @property
    def keeps_positions(self) -> bool:
        """A transaction can carry one."""
        return self.known is not None

    def reached(self, pipeline: str) -> Reached | None:
        """What the database keeps of it, if the table is still the one that it was."""
        with self._session() as session:
            found = self.marks(session).reached(pipeline)
            now = session.database.table_id(session, self.relation())
        if found is None:
            return None
        if found.table_id != now:
            raise RecreatedError(self.place, pipeline, found.batch)
        if found.adopted_by is not None:
            raise GivenUpError(self.place, pipeline, found)
        return found

    def last_known(self, pipeline: str) -> Reached | None:
        """What the database keeps of it."""
        with self._session() as session:
            return self.marks(session).reached(pipeline)

    def last_batch(self, pipeline: str) -> int:
        """The version of its mark."""
        found = self.last_known(pipeline)
        return found.batch if found else 0

    def others(self, pipeline: str, source: str) -> Iterable[str]:
        """What the database keeps of them."""
        with self._session() as session:
            return tuple(self.marks(session).others(pipeline, source))

    def moves(self, pipeline: str) -> Iterable[Reached]:
        """The last thing that happened to it, where that was one."""
        found = self.last_known(pipeline)
        return (found,) if found and found.why else ()

    def landed(self, commit: Commit, result: LoadResult) -> Reached:
        """As the database says, which is asked again; where a later one is there already, as the commit said."""
        assert commit.mark is not None
        assert commit.pipeline is not None
        found = self.last_known(commit.pipeline)
        if found is None or found.batch < commit.mark.version:
            raise RunError(
                f"{self.place} does not know of batch {commit.mark.version}, which it said had landed.",
                hint="Look into the database's log; nothing more was loaded.",
            )
        # Never what another run did since: who took that for its own would go on and land the same rows again.
        return found if found.run_id == commit.run_id else _said(commit)

    def require_movable(self) -> None:
        """The table must be there: a position without rows would be one of nothing."""
        with self._session() as session:
            if not session.database.exists(session, self.relation()):
                raise ConfigError(f"There is no table {self.place}.", hint="Run the pipeline first.")

    def move(self, commit: Commit) -> Reached:
        """A transaction without rows."""
        with self._session() as session:
            marks, at = self.marks(session), now()
            marks.prepare()
            table_id = session.database.table_id(session, self.relation())
            with session.transaction():
                if marks.take(commit, at, table_id) is not None:
                    raise OvertakenError(self.place, commit, "another run")
                if commit.adopts is not None and not marks.give_up(commit, at, table_id):
                    raise OvertakenError(self.place, commit, f"a run of {commit.adopts!r}")
        return self.landed(commit, LoadResult(success=True))

    def _session(self) -> AbstractContextManager[Session]:
        assert self.known is not None, "checked when the file was read"
        return self.known.session(self.address)

    def marks(self, session: Session) -> Marks:
        """What the database keeps of loads into this table; other tables have marks of their own."""
        return Marks(session, self.marks_schema, session.database.in_full(session, self.relation()), self.place)

    @property
    def marks_schema(self) -> str | None:
        """Where what is not the target itself is kept."""
        return self.staging_schema or self.relation().schema

    def row_keys(self, mode: WriteMode) -> Keys | None:
        """The merge keys; the database looks at them, in the table beside."""
        if mode is not WriteMode.UPSERT or self.merge_keys is None:
            return None
        return Keys(
            columns=self.merge_keys,
            on_null="fail",
            on_duplicate=self.on_duplicate_keys,
            order_by=self.order_by or (),
            checked=False,
        )

    def scratch(self, own: str) -> str:
        """Beside what is set aside, or among the machine's temporary files."""
        if self.aside_path is None:
            return f"{tempfile.gettempdir()}/.deltaworks.{own}.staging"
        return beside(self.aside_path, f".{{}}.{own}.staging")

    def check_aside(self) -> None:
        """Rows are set aside in a Delta table, which needs a path."""
        if self.aside_path is None:
            raise problem("asidePath is missing", "Add it: rows that break a rule go to a Delta table there.")

    def aside(self) -> Sink:
        """The Delta table that the file names."""
        return aside_at(self.aside_path or "", self.access)

    def plan(self, rows: DataFrame, mode: WriteMode, findings: Findings | None = None) -> WritePlan:
        """Say what one transaction would do to the table."""
        from deltaworks.spark.sinks.jdbc_steps import planned

        if self.known is not None:
            with self.known.session(self.address) as session:
                return planned(self, session, rows, mode)
        verb = "replace all rows of" if mode is WriteMode.OVERWRITE else "append to"
        found = columns(rows.schema.json())
        return WritePlan(
            target=self.place, version=None, action=f"{verb} {self.place}", columns=found, notes=(AT_LEAST_ONCE,)
        )

    def write(self, batch: Batch, mode: WriteMode, commit: Commit) -> LoadResult:
        """Land the rows in one transaction."""
        from deltaworks.spark.sinks.jdbc_load import JdbcLoad

        if self.known is not None:
            with self.known.session(self.address) as session:
                return JdbcLoad(sink=self, mode=mode, session=session).run(batch, commit)
        name = ".".join(filter(None, (self.schema_name, self.table)))
        self.writer(batch.rows, name).mode("overwrite" if mode is WriteMode.OVERWRITE else "append").save()
        return LoadResult(success=True, notes=("how many rows there were is not known",))

    def writer(self, rows: DataFrame, table: str) -> Any:
        """Spark's writer to a table, whose name is spelled as SQL."""
        own = {"dbtable": table, "batchsize": str(self.batch_size), "numPartitions": str(self.connections)}
        return rows.write.format("jdbc").options(**self.connection(), **own)


def _said(commit: Commit) -> Reached:
    """How far a pipeline got with a commit."""
    assert commit.mark is not None
    assert commit.position is not None
    return Reached(
        batch=commit.mark.version,
        position=commit.position,
        run_id=commit.run_id,
        user=commit.user,
        host=commit.host,
        why=commit.why,
    )
