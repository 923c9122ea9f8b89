"""Rows of a database, through as many connections as are worth it."""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from deltaworks.errors import ConfigError
from deltaworks.lake.model import Columns, Whole, problem
from deltaworks.lake.sql import quoted
from deltaworks.spark.databases.base import Relation, Span, Split
from deltaworks.spark.databases.marks import TABLE as POSITIONS
from deltaworks.spark.databases.sharing import shared_out
from deltaworks.spark.jdbc import JdbcConnector
from deltaworks.spark.sources.base import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.spark.databases.base import Reading, Session

# Tables that loads of ours make: how far they got, and what is on its way.
_OURS = re.compile(rf"{re.escape(POSITIONS)}|deltaworks_\d{{8}}T\d{{6}}-[0-9a-f]{{8}}", re.IGNORECASE)


class JdbcSource(JdbcConnector, Source):
    """Rows of a table or a query, each value as the database has it: see the [types](../databases.md).

    With `tables`, or a schema alone, every table is a load of its own; `{table}` in the sink's
    path, table or topic stands for its name.
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
        return self

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

    def _span(self, session: Session, snapshot: str | None) -> Span:
        database, relation = session.database, self.relation()
        readings = database.readings(session, relation)
        split = shared_out(session, relation, self.partition_column, self.connections)
        columns = ", ".join(f"{each.select} AS {database.quoted(each.name)}" for each in readings)
        select = f"SELECT {columns} FROM {database.spelled(relation)}"
        if not isinstance(split, Split):
            options = database.begun(session, None, self.session_init_statement)
            return Span(readings=readings, selects=(select,), options=options, why_one=split)
        options = database.begun(session, snapshot, self.session_init_statement)
        selects = tuple(f"{select} WHERE {condition}" for condition in split.conditions)
        return Span(readings=readings, selects=selects, options=options, by=split.by, snapshot=snapshot)

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
        own = {"preferTimestampNTZ": "true", **self.reached(), "fetchsize": str(self.fetch_size)}
        statement = self.session_init_statement
        return {**own, **(span.options if span else {"sessionInitStatement": statement} if statement else {})}

    def describe(self, span: Span | None) -> str:
        """What will be read, in one line."""
        name = self.known.name if self.known else "JDBC"
        if span is None or span.by is None:
            return f"{name} {self.relation().said}"
        return f"{name} {self.relation().said}, {len(span.selects)} connections by {span.by}"

    def remarks(self, span: Span | None) -> tuple[str, ...]:
        """Why there is one connection, or that several do not see the same moment."""
        if span is None:
            return ()
        if span.why_one:
            return (f"{self.relation().said} is read through one connection: {span.why_one}",)
        if span.by is not None and span.snapshot is None:
            return (f"{len(span.selects)} connections each see {self.relation().said} at their own moment",)
        return ()


def _as_they_are(rows: DataFrame, readings: tuple[Reading, ...]) -> DataFrame:
    """The values as the database has them, and no word of a length that Spark would enforce from then on."""
    from pyspark.sql.functions import col, expr

    columns = (expr(each.then) if each.then else col(quoted(each.name)) for each in readings)
    return rows.select(*(column.alias(each.name, metadata={}) for column, each in zip(columns, readings, strict=True)))
