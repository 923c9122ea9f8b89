"""What a load does to a table of a database: decided first, then said or done."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError, DeltaworksError
from deltaworks.lake.fit import compared
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.schema import Column, columns
from deltaworks.lake.sql import literal, quoted, wall_clock
from deltaworks.spark.databases.base import MICROSECONDS, Relation
from deltaworks.spark.errors import ColumnNotFoundError
from deltaworks.spark.sinks.base import WritePlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import DataFrame

    from deltaworks.spark.databases.base import Session
    from deltaworks.spark.sinks.jdbc import JdbcSink


ROW = "deltaworks_row"  # the column with the number of a row, where the rows are beside the table


def planned(sink: JdbcSink, session: Session, rows: DataFrame, mode: WriteMode) -> WritePlan:
    """Say what one transaction would do to the table."""
    steps = Steps.decided(sink, session, rows, mode)
    return WritePlan(
        target=sink.place,
        version=None,
        action=steps.action,
        columns=steps.after,
        statement=steps.statement(Relation(table="the rows")),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What is done to a table, decided."""

    sink: JdbcSink
    session: Session
    mode: WriteMode
    columns: tuple[Column, ...]  # of the rows, spelled as the table spells them
    there: tuple[Column, ...] | None  # of the table; none where it is not there
    digits: Mapping[str, int] = field(default_factory=dict)  # of a second, where a column there keeps fewer than Spark

    @classmethod
    def decided(cls, sink: JdbcSink, session: Session, rows: DataFrame, mode: WriteMode) -> Steps:
        """Look at the table; refuses rows that do not fit it."""
        found = columns(rows.schema.json())
        for name in (*(sink.merge_keys or ()), *(sink.update_columns or ()), *sink.column_types):
            if name.lower() not in {column.name.lower() for column in found}:
                raise ColumnNotFoundError(name, [column.name for column in found])
        if not session.database.exists(session, sink.relation()):
            steps = cls(sink=sink, session=session, mode=mode, columns=found, there=None)
            steps._require_types()
            return steps
        readings = session.database.readings(session, sink.relation())
        there = tuple(Column(each.name, each.kind) for each in readings)
        digits = {each.name: each.digits for each in readings if each.digits < MICROSECONDS}
        fitted = _fitted(found, there)
        steps = cls(sink=sink, session=session, mode=mode, columns=fitted, there=there, digits=digits)
        steps._require_transactions()
        steps._require_index()
        return steps

    def _require_types(self) -> None:
        _ = self._definitions()

    def _require_transactions(self) -> None:
        """A load that fails half way must be taken back."""
        relation = self.sink.relation()
        engine = self.session.database.without_transactions(self.session, relation)
        if engine is not None:
            raise ConfigError(
                f"{relation.said} is kept by {engine}, which cannot take back what a failed load did.",
                hint=f"ALTER TABLE {self.target} ENGINE=InnoDB, or load into another table.",
            )

    def _require_index(self) -> None:
        """Without a unique index over the keys nothing would tell a row that is there already."""
        keys = {name.lower() for name in self.keys}
        unique = self.session.database.unique(self.session, self.sink.relation()) if keys else []
        if keys and not any({name.lower() for name in names} == keys for names in unique):
            names = ", ".join(self.keys)
            raise ConfigError(
                f"{self.sink.relation().said} has no unique index over mergeKeys ({names}).",
                hint=f"CREATE UNIQUE INDEX ON it ({names}), or change mergeKeys.",
            )

    @property
    def target(self) -> str:
        """The table, as SQL."""
        return self.session.database.spelled(self.sink.relation())

    @property
    def action(self) -> str:
        """What is done, as people read it."""
        name = f"{self.session.database.name} {self.sink.relation().said}"
        if self.there is None:
            return f"create {name}"
        if self.mode is WriteMode.UPSERT:
            return f"upsert into {name} by {', '.join(self.sink.merge_keys or ())}"
        return f"replace all rows of {name}" if self.mode is WriteMode.OVERWRITE else f"append to {name}"

    @property
    def after(self) -> tuple[Column, ...]:
        """The columns the table will have."""
        return self.there or self.columns

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that identify a row."""
        return self._spelled(self.sink.merge_keys or ())

    @property
    def updated(self) -> tuple[str, ...]:
        """The columns of a row already there that change."""
        chosen = self.sink.update_columns or tuple(column.name for column in self.columns)
        return tuple(name for name in self._spelled(chosen) if name not in self.keys)

    def _spelled(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Names that the file gives, as the table spells them."""
        there = {column.name.lower(): column.name for column in self.columns}
        return tuple(there[name.lower()] for name in names)

    def names(self) -> str:
        """The columns of the rows, as SQL."""
        return ", ".join(self.session.database.quoted(column.name) for column in self.columns)

    def _definitions(self) -> list[str]:
        database = self.session.database
        given = {name.lower(): kind for name, kind in self.sink.column_types.items()}
        return [
            f"{database.quoted(column.name)} "
            + _required(
                column.name,
                given.get(column.name.lower()) or database.type_for(column.type, key=column.name in self.keys),
                column.type,
            )
            for column in self.columns
        ]

    def make_staging(self, staging: Relation) -> None:
        """Make the table beside: with the columns of the target, or with those that it will have."""
        database = self.session.database
        name = database.spelled(staging)
        columns = f"({', '.join(self._definitions())})" if self.there is None else f"AS {self._no_rows()}"
        self.session.run(f"DROP TABLE IF EXISTS {name}")  # of a batch before whose connection was lost
        self.session.run(f"CREATE {database.unlogged}TABLE {name} {columns}")
        self.session.run(f"ALTER TABLE {name} ADD COLUMN {ROW} bigint")

    def _no_rows(self) -> str:
        return f"SELECT {', '.join(map(self._beside, self.columns))} FROM {self.target} WHERE 1 = 0"

    def _beside(self, column: Column) -> str:
        """A column of the table beside: with all digits of a second, so that none is lost before anybody looks."""
        name = self.session.database.quoted(column.name)
        if column.name not in self.digits:
            return name
        return f"CAST({name} AS {self.session.database.time_type(column.type, MICROSECONDS)}) AS {name}"

    def shortened(self) -> Iterator[tuple[str, str]]:
        """The columns whose times may have more digits than the table keeps, and the condition that they have."""
        database = self.session.database
        for column in self.columns:
            if column.name in self.digits:
                name, kind = database.quoted(column.name), database.time_type(column.type, self.digits[column.name])
                yield column.name, f"{name} <> CAST({name} AS {kind})"

    def statement(self, staging: Relation) -> str:
        """The INSERT that lands the rows."""
        database, keys = self.session.database, self.keys
        insert = f"INSERT INTO {self.target} ({self.names()}) SELECT {self.names()} FROM {database.spelled(staging)}"
        if self.mode is not WriteMode.UPSERT:
            return insert
        # In one order, so that two who write the same keys wait for each other and do not lock each other out.
        return f"{insert} ORDER BY {', '.join(map(database.quoted, keys))} {database.on_conflict(keys, self.updated)}"

    @contextmanager
    def made(self) -> Iterator[None]:
        """The table itself, made where it is not there; it goes again if nothing lands in it."""
        if self.there is not None:
            yield
            return
        self._make()
        try:
            yield
        except BaseException:
            # Through another connection, since this one may be lost.
            with suppress(DeltaworksError), self.session.database.session(self.sink.address) as session:
                session.database.drop_empty(session, self.sink.relation())
            raise

    def _make(self) -> None:
        keys = ", ".join(map(self.session.database.quoted, self.keys))
        index = [f"PRIMARY KEY ({keys})"] if keys else []
        self.session.run(
            f"CREATE TABLE {self.target} ({', '.join([*self._definitions(), *index])}){self.session.database.keeper}"
        )

    def sent(self, rows: DataFrame) -> DataFrame:
        """The rows in the table's spelling, each with a number of its own.

        Times are text, which no zone of a machine on the way changes.
        """
        utc = self.session.database.utc
        values = (f"{_sent(column, utc)} AS {quoted(column.name)}" for column in self.columns)
        return rows.selectExpr(*values, f"monotonically_increasing_id() AS {ROW}")

    def emptied(self) -> int:
        """Take the old rows away; how many there were."""
        if self.sink.overwrite_by == "delete" or not self.session.database.truncates_in_transaction:
            return self.session.run(f"DELETE FROM {self.target}")
        self.session.run(f"LOCK TABLE {self.target} IN ACCESS EXCLUSIVE MODE")
        ((count,),) = self.session.rows(f"SELECT count(*) FROM {self.target}")
        self.session.run(f"TRUNCATE TABLE {self.target}")
        return int(count)

    def matched(self, staging: Relation) -> int:
        """How many of the rows are updates."""
        database = self.session.database
        same = " AND ".join(f"t.{database.quoted(key)} = s.{database.quoted(key)}" for key in self.keys)
        there = f"SELECT 1 FROM {self.target} t WHERE {same}"
        ((count,),) = self.session.rows(f"SELECT count(*) FROM {database.spelled(staging)} s WHERE EXISTS ({there})")
        return int(count)


def _sent(column: Column, utc: str) -> str:
    name = quoted(column.name)
    listed = re.fullmatch(r"array<(date|timestamp|timestamp_ntz)>", column.type)
    if listed is None:
        return _as_text(column.type, name, utc) or name
    # Java's driver would take each of them for a time of its own zone.
    each = f"""coalesce(concat('"', {_as_text(listed[1], "each", utc)}, '"'), 'NULL')"""
    return f"concat('{{', array_join(transform({name}, each -> {each}), ','), '}}')"


def _as_text(kind: str, value: str, utc: str) -> str | None:
    """A time as the database reads it; none of what is no time."""
    if kind == "timestamp":
        return f"concat(CAST({wall_clock(f'unix_micros({value})')} AS STRING), {literal(utc)})"
    return f"CAST({value} AS STRING)" if kind in {"date", "timestamp_ntz"} else None


def _fitted(rows: tuple[Column, ...], there: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns of the rows in the table's spelling; refuses those that the table has not, or as something else."""
    twice = next((name for name, count in Counter(column.name.lower() for column in there).items() if count > 1), None)
    if twice is not None:
        raise ConfigError(
            f"The table has two columns {twice!r} that differ only in case.",
            hint="Rename one of them there: Spark does not tell them apart.",
        )
    fit = compared(rows, there)
    if fit.new:
        raise ConfigError(
            f"The table has no column {', '.join(fit.new)}.", hint="Add it there, or leave it out with dropColumns."
        )
    if different := (*fit.wider, *fit.wrong):
        name, incoming, wanted = different[0]
        raise ConfigError(
            f"Column {name!r} is {incoming} in the rows and {wanted} in the table.", hint="Use a cast transform."
        )
    spelled = {column.name.lower(): column.name for column in there}
    return tuple(replace(column, name=spelled[column.name.lower()]) for column in rows)


def _required(name: str, kind: str | None, found: str) -> str:
    """The type of a new column, or that there is none."""
    if kind is None:
        raise ConfigError(
            f"Column {name!r} is {found}, which this database has no type for.",
            hint="Make it text with to_json, flatten it, or name its type in columnTypes.",
        )
    return kind
