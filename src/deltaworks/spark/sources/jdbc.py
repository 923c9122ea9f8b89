"""Rows of a database, through as many connections as are worth it."""

from __future__ import annotations

import re
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import reduce
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from deltaworks.errors import ConfigError
from deltaworks.lake.model import Columns, Whole, problem
from deltaworks.lake.sql import quoted
from deltaworks.spark.batch import staged
from deltaworks.spark.databases.base import Relation, Span, Split, authority
from deltaworks.spark.databases.cursor import Cursor, CursorLostError, CursorPosition
from deltaworks.spark.databases.marks import TABLE as POSITIONS
from deltaworks.spark.databases.sharing import shared_out
from deltaworks.spark.errors import ColumnNotFoundError, explained
from deltaworks.spark.jdbc import JdbcConnector
from deltaworks.spark.sources.base import Source
from deltaworks.spark.sources.incremental import Continues, Delivered, Request
from deltaworks.spark.sources.jdbc_cursor import Between, CursorBatch, JdbcIncremental, decided, way_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.lake.mode import WriteMode
    from deltaworks.spark.databases import Database
    from deltaworks.spark.databases.base import Reading, Session
    from deltaworks.spark.sinks.base import Sink

# Tables that loads of ours make: how far they got, and what is on its way.
_OURS = re.compile(rf"{re.escape(POSITIONS)}|deltaworks_\d{{8}}T\d{{6}}-[0-9a-f]{{8}}", re.IGNORECASE)


class JdbcSource(JdbcConnector, Continues, Source):
    """Rows of a table or a query, each value as the database has it: see the [types](../databases.md).

    With `tables`, or a schema alone, every table is a load of its own; `{table}` in the sink's
    path, table, topic or asidePath stands for its name.
    """

    source_type: Literal["PostgreSQL", "MySQL", "JDBC"]
    """`PostgreSQL`, `MySQL` (MariaDB too), or `JDBC` for any url."""
    query: str | None = None
    """A SELECT whose rows are read, in place of a table."""
    tables: Columns | None = None
    """Several tables, each a load of its own. Without `table`, `tables` and `query`: all of the schema."""
    fetch_size: Annotated[Whole, Field(ge=1)] = 20_000
    """How many rows the driver fetches at a time."""
    session_init_statement: str | None = None
    """A statement that every connection begins with, such as `SET statement_timeout = 0`."""
    connections: Annotated[Whole, Field(ge=1, le=64)] = 4
    """How many connections may read at once, at most. A small table is read through one."""
    partition_column: str | None = None
    """The column by whose values rows are shared out among connections. For a table it is found: the primary key, an
    index, or none; a query is read through one connection without it."""
    incremental: JdbcIncremental | None = None
    """Read only rows that are new since the last run."""

    _between: Between | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        self.check_place()
        given = [name for name in ("query", "table", "tables") if getattr(self, name)]
        if len(given) > 1:
            raise problem(f"{given[0]} and {given[1]} are both given", "Leave one of them out.")
        if not given and not self.schema_name:
            raise problem("table is missing", "Add table, tables, query, or schemaName for all its tables.")
        if self.query and self.schema_name:
            raise problem("schemaName does nothing beside query", "Name the schema inside the query.")
        if self.several and self.known is None:
            raise problem("This database cannot be asked for its tables", "Name one table.")
        if self.incremental and self.known is None:
            raise problem(
                "Only PostgreSQL and MySQL can be read incrementally: of others nobody knows how they compare values",
                "Leave out incremental.",
            )
        return self

    def check_incremental(self, sink: Sink, mode: WriteMode) -> None:
        """Rows that are read twice must not land twice."""
        if self.incremental:
            self.incremental.check_mode(mode)

    @property
    def kind(self) -> str:
        """Its type."""
        return self.source_type

    @property
    def several(self) -> bool:
        """Whether it names more than one table."""
        return bool(self.tables) or not (self.table or self.query)

    def parts(self) -> tuple[tuple[str, Self], ...]:
        """Each table by its name, with the source of its rows; where none are named, all that the database shows."""
        names = self.tables or self._all_tables()
        return tuple((name, self._one(name)) for name in names)

    def _one(self, name: str) -> Self:
        return self.model_copy(update={"table": name, "tables": None})

    def _all_tables(self) -> tuple[str, ...]:
        assert self.known is not None
        with self.known.session(self.address, self.session_init_statement) as session:
            found = tuple(name for name in self.known.tables(session, self.schema_name) if not _OURS.fullmatch(name))
        if not found:
            raise ConfigError(
                f"{self.known.name} shows this user no table in the schema {self.schema_name}.",
                hint="Check schemaName and the user's rights.",
            )
        return found

    def relation(self) -> Relation:
        """What is read."""
        return Relation(query=self.query) if self.query else super().relation()

    def fixed(self) -> Span | None:
        """Look at the columns, and share the rows out."""
        if self.known is None:
            return None
        with self.known.session(self.address, self.session_init_statement) as session:
            return self._span(session, None)

    @contextmanager
    def held(self) -> Iterator[Span | None]:
        """The same at one moment, which all connections see until the end, where the database can do that."""
        if self.known is None or self.connections == 1:
            yield self.fixed()
            return
        with self.known.session(self.address, self.session_init_statement) as session:
            yield self._span(session, self.known.snapshot(session))

    def _span(self, session: Session, snapshot: str | None, batch: CursorBatch | None = None) -> Span:
        database, relation = session.database, self.relation()
        readings = database.readings(session, relation)
        if batch is None:
            split = shared_out(session, relation, self.partition_column, self.connections)
        else:
            split = batch.split(self.partition_column, self.connections, one_moment=snapshot is not None)
            readings += batch.readings()
        within = self._within(session, readings, batch)
        columns = ", ".join(f"{each.select} AS {database.quoted(each.name)}" for each in readings)
        select = f"SELECT {columns} FROM {database.spelled(relation)}"
        if not isinstance(split, Split):
            options = database.begun(session, None, self.session_init_statement)
            return Span(readings=readings, selects=(_where(select, within),), options=options, why_one=split)
        options = database.begun(session, snapshot, self.session_init_statement)
        selects = tuple(_where(select, within, condition) for condition in split.conditions)
        return Span(readings=readings, selects=selects, options=options, by=split.by, snapshot=snapshot)

    def _within(self, session: Session, readings: tuple[Reading, ...], batch: CursorBatch | None) -> str | None:
        if batch is not None:
            return batch.condition
        return self._between.to_sql(session, self.relation(), readings) if self._between else None

    def read(self, spark: SparkSession, span: Span | None) -> DataFrame:
        """The rows, lazily; one part for each connection."""
        reader = spark.read.format("jdbc").options(**self._options(span))
        if span is None or self.known is None:
            relation = self.relation()
            name = ".".join(filter(None, (relation.schema, relation.table)))
            return reader.option("dbtable", f"({self.query}\n) given" if self.query else name).load()
        selects = map(self.known.for_java, span.selects)
        parts = [reader.option("dbtable", f"({select}\n) part").load() for select in selects]
        return _as_they_are(reduce(lambda some, more: some.unionAll(more), parts), span.readings)

    def _options(self, span: Span | None) -> dict[str, str]:
        own = {"preferTimestampNTZ": "true", **self.connection(), "fetchsize": str(self.fetch_size)}
        statement = self.session_init_statement
        return {**own, **(span.options if span else {"sessionInitStatement": statement} if statement else {})}

    def describe(self, span: Span | None) -> str:
        """What will be read, in one line."""
        name, what = self.known.name if self.known else "JDBC", self.relation().said
        what = f"{what}, {self._between.said}" if self._between else what
        if span is None or span.by is None:
            return f"{name} {what}"
        return f"{name} {what}, {len(span.selects)} connections by {span.by}"

    def remarks(self, span: Span | None) -> tuple[str, ...]:
        """Why there is one connection, or that several do not see the same moment."""
        if span is None:
            return ()
        if span.why_one:
            return (f"{self.relation().said} is read through one connection: {span.why_one}",)
        if span.by is not None and span.snapshot is None:
            return (f"{len(span.selects)} connections each see {self.relation().said} at their own moment",)
        return ()

    def identity(self) -> str:
        """The server as it knows itself, or else its address; the database there, and the table or query."""
        with self._session() as session:
            where = session.database.origin(session) or authority(self.address)
            relation = self.relation()
            query = sha256(" ".join((relation.query or "").split()).encode()).hexdigest()[:16]
            what = f"query {query}" if relation.table is None else session.database.in_full(session, relation)
            return f"{session.database.name.lower()}:{where}/{self.address.database}/{what}"

    def _session(self) -> AbstractContextManager[Session]:
        return self._database.session(self.address, self.session_init_statement)

    @property
    def _database(self) -> Database:
        assert self.known is not None, "checked when the file was read"
        return self.known

    @property
    def _asked(self) -> JdbcIncremental:
        assert self.incremental is not None, "nobody else asks what is new"
        return self.incremental

    def beginning(self) -> Any:
        """Before the smallest value."""
        return CursorPosition(column=self._asked.cursor_column).to_dict()

    def end(self) -> Any:
        """The largest value there is."""
        with self._session() as session:
            cursor = self._cursor(session)
            value = cursor.newest()
            found = CursorPosition(column=cursor.reading.name, table=cursor.table)
            return (found if value is None else replace(found, kind=cursor.kind, value=value)).to_dict()

    def _cursor(self, session: Session, readings: tuple[Reading, ...] | None = None) -> Cursor:
        relation = self.relation()
        readings = readings or session.database.readings(session, relation)
        return Cursor.found(session, relation, self._asked.cursor_column, readings)

    def require_there(self, position: Any) -> None:
        """See that the column is there and of its kind, and that a row has the value up to which it was read, or more.

        A table whose newest rows were taken away is refused as one that was emptied: nobody can tell them apart.
        """
        with self._session() as session:
            try:
                cursor = self._cursor(session)
            except ColumnNotFoundError as error:
                raise CursorLostError(self.relation().said, str(error).rstrip(".")) from error
            cursor.require_there(CursorPosition.of(position))

    def told(self, position: Any) -> str:
        """The column and its value."""
        return str(CursorPosition.of(position))

    def nothing_follows(self, request: Request) -> bool:
        """The database tells, rows at the very value included."""
        with self._session() as session:
            return self._batch(session, request) is None

    def _batch(self, session: Session, request: Request) -> CursorBatch | None:
        readings = session.database.readings(session, self.relation())
        way = way_of(self._cursor(session, readings), self._asked, readings, once=request.once)
        return decided(way, self._asked, CursorPosition.of(request.position), whole=request.whole)

    @contextmanager
    def following(self, spark: SparkSession, request: Request) -> Iterator[Delivered | None]:
        """Rows that follow a position, as one batch.

        What the position behind them says of rows at its value must be true of just the rows that land. So
        they are kept in files first, and the position is made of those, whatever happens in the table meanwhile.
        """
        with ExitStack() as kept, ExitStack() as asking:
            with explained("extract"):
                session = asking.enter_context(self._session())
                snapshot = self._database.snapshot(session) if self.connections > 1 else None
                batch = self._batch(session, request)
                span = self._span(session, snapshot, batch) if batch else None
            if batch is None or span is None:
                yield None
                return
            said = f"{self._database.name} {self.relation().said}, {batch.said}"
            with explained("extract"):
                rows, end = self.read(spark, span), None
                if not request.looks:
                    rows = kept.enter_context(staged(rows, request.scratch, request.access))
                    end = batch.end(rows).to_dict()
                    asking.close()  # nothing more is read: the database need not wait until the rows have landed
            yield Delivered(
                rows=batch.fresh(rows),
                said=said,
                end=end,
                more=batch.cut,
                repeats=not request.looks,
                remarks=self.remarks(span),
            )

    def between(self, start: str, end: str) -> Source:
        """The rows whose cursor is in a range: `start` is part of it, `end` is not. A time without a zone is UTC."""
        found = self.model_copy(update={"incremental": None})
        found._between = Between(column=self._asked.cursor_column, start=start, end=end)
        return found


def _where(select: str, *conditions: str | None) -> str:
    given = " AND ".join(f"({condition})" for condition in conditions if condition)
    return f"{select} WHERE {given}" if given else select


def _as_they_are(rows: DataFrame, readings: tuple[Reading, ...]) -> DataFrame:
    """The values as the database has them, and no word of a length that Spark would enforce from then on."""
    from pyspark.sql.functions import col, expr

    columns = (expr(each.then) if each.then else col(quoted(each.name)) for each in readings)
    return rows.select(*(column.alias(each.name, metadata={}) for column, each in zip(columns, readings, strict=True)))
