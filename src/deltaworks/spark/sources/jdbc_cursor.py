"""What is new in a database since the last batch: which rows, and where that leaves off."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from deltaworks.errors import ConfigError, RefusedError
from deltaworks.lake.durations import duration
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.model import Columns, Whole, as_problem, problem, refuse_unknown
from deltaworks.spark.databases.base import Reading, Relation
from deltaworks.spark.databases.cursor import (
    MOST_TIES,
    Cursor,
    CursorPosition,
    TooManyTiesError,
    likeness,
    named,
)
from deltaworks.spark.databases.sharing import shared_out
from deltaworks.spark.sources.base import Incremental

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from deltaworks.spark.databases.base import Session, Split

LAST = "__deltaworks_last"  # of rows at the value where the last batch ended: the hash of their key
HIGH = "__deltaworks_high"  # the same of those where this one ends, or of all that the next reads again
WORTH = 200_000  # rows that are worth more than one connection


def _lag(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, timedelta | int | str) or _is_ahead(value):
        raise problem(f"{value!r} is no lag", "Write a duration such as 10m, or a whole number that is not below 0.")
    if isinstance(value, timedelta):
        return value
    if isinstance(value, int) or value.strip().isdigit():
        return int(value)
    with as_problem():
        return duration(value)


def _is_ahead(value: timedelta | int | str) -> bool:
    """Whether it would begin behind the last cursor, and leave rows out; of text the duration tells."""
    return value < timedelta() if isinstance(value, timedelta) else isinstance(value, int) and value < 0


Lag = Annotated[
    timedelta | int,
    BeforeValidator(_lag),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]}),
]
"""`"10m"` or another duration, or a whole number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """A range of a column's values, from one up to another, which is no part of it."""

    column: str
    start: str
    end: str

    @property
    def said(self) -> str:
        """What it is, in a few words."""
        return f"{self.column} from {self.start} up to {self.end}"

    def to_sql(self, session: Session, relation: Relation, readings: Sequence[Reading]) -> str:
        """What selects its rows."""
        cursor = Cursor.found(session, relation, self.column, readings)
        if not cursor.is_before(self.start, self.end):
            raise ConfigError(f"{self.start} is not before {self.end}.", hint="Swap --from and --to.")
        return f"({cursor.column} >= {cursor.spelled(self.start)} AND {cursor.column} < {cursor.spelled(self.end)})"


class JdbcIncremental(Incremental):
    """Read only rows that are new since the last run, by a column whose values grow; the whole table at first."""

    cursor_column: Annotated[str, Field(min_length=1)]
    """The column whose values grow as rows come: a number, date, time or text, as an id or the time of the last
    change."""
    key_columns: Columns | None = None
    """For Append: the columns that identify a row, so that of rows with the same cursor each lands once; the primary
    key where none are given."""
    lag: Lag | None = None
    """For rows that are seen late: every batch reads again from the last cursor less this, as `10m` for times or `100`
    for numbers. Not for Append, where they would be there twice."""
    null_cursors: Literal["refuse", "include"] = "refuse"
    """Rows whose cursor is null are refused, or included: in the first batch, and in a full refresh, not later."""
    max_rows_per_batch: Annotated[Whole, Field(ge=1)] | None = None
    """How many rows one batch reads, about: rows with the same cursor stay together."""

    @model_validator(mode="before")
    @classmethod
    def _by_a_column(cls, data: Any) -> Any:
        if isinstance(data, dict):
            refuse_unknown(cls.__name__, data, cls.keys())  # a misspelled one is not missing
        if data in (True, "true") or (isinstance(data, dict) and not data.get("cursorColumn")):
            raise problem(
                "cursorColumn is missing: nothing else tells which rows are new",
                "Write incremental: {cursorColumn: updated_at}, with a column whose values grow.",
            )
        return data

    def check_mode(self, mode: WriteMode) -> None:
        """Refuse what could double rows, and what would do nothing."""
        if mode is WriteMode.APPEND and self.lag:
            raise problem("lag reads rows again, which Append would land twice", "Use Upsert, or leave lag out.")
        if mode is WriteMode.OVERWRITE and self.lag:
            raise problem(
                "lag reads some rows again, which would replace their whole partitions", "Use Upsert, or leave lag out."
            )
        if mode is WriteMode.UPSERT and self.key_columns:
            raise problem("keyColumns does nothing with Upsert", "Leave it out: rows may be read twice there.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CursorBatch:
    """Rows between two values of a cursor, decided before the first of them is read."""

    way: Way
    start: CursorPosition
    last: str | None  # where the batch before ended; none where this one begins with the first row
    high: str | None  # where it ends; none where no row has a value
    nulls: bool  # rows without a value are among them
    cut: bool = False  # there may be more behind it: the file says how much a batch holds at most

    @property
    def cursor(self) -> Cursor:
        """The column."""
        return self.way.cursor

    @property
    def condition(self) -> str:
        """What selects the rows, as SQL."""
        column, parts = self.cursor.column, list[str]()
        if self.last is not None:
            parts.append(f"{column} >= {self.way.since(self.last)}")
        parts.append("1 = 0" if self.high is None else f"{column} <= {self.cursor.spelled(self.high)}")
        within = " AND ".join(parts)
        return f"({within} OR {column} IS NULL)" if self.nulls else f"({within})"

    @property
    def said(self) -> str:
        """What is read, in a few words."""
        nulls = ", rows without one included" if self.nulls else ""
        after = f" after {self.last}" if self.last is not None else ""
        return f"{self.cursor.reading.name}{after} up to {'nothing' if self.high is None else self.high}{nulls}"

    def readings(self) -> tuple[Reading, ...]:
        """Columns beside those of the table, which tell what was read where it begins and ends."""
        return self.way.readings(self.last, self.high)

    def split(self, column: str | None, most: int, *, one_moment: bool) -> Split | str | None:
        """How the rows are shared out among connections: the first batch as the table is, a large one by itself."""
        session, relation = self.cursor.session, self.cursor.relation
        if self.last is None:
            return shared_out(session, relation, column, most)
        # Where each connection sees its own moment, a row may move from one part into another while they read.
        if not one_moment or self.cursor.count(self.condition, WORTH + 1) <= WORTH:
            return None
        rows = Relation(query=f"SELECT * FROM {session.database.spelled(relation)} WHERE {self.condition}")
        return shared_out(session, rows, column or self.cursor.reading.name, most)

    def fresh(self, rows: DataFrame) -> DataFrame:
        """The rows that have not landed yet, or may land again."""
        return self.way.fresh(rows, self.start).drop(LAST, HIGH)

    def end(self, rows: DataFrame) -> CursorPosition:
        """Where the batch leaves off, by the rows themselves that were read."""
        way = self.way
        nulls = self.nulls or self.start.nulls
        found = CursorPosition(column=self.cursor.reading.name, keys=way.names, nulls=nulls, table=self.cursor.table)
        if self.high is None:
            return found
        return way.ended(rows, self.start, replace(found, kind=self.cursor.kind, value=self.high))


def decided(way: Way, asked: JdbcIncremental, start: CursorPosition, *, whole: bool) -> CursorBatch | None:
    """Fix what the next batch reads; none where there is nothing new."""
    cursor, last = way.cursor, None if whole else start.value
    nulls = _nulls(cursor, asked, start, whole=whole)
    if last is not None:
        cursor.require_same(start)
        way.require_same(start)
    high = cut = cursor.after(last, asked.max_rows_per_batch) if asked.max_rows_per_batch and not whole else None
    if high is None:  # which an empty text is not
        high = cursor.newest(beyond=last)
    if high is None and last is not None:
        cursor.require_there(start)
    more = high is not None or (last is not None and way.changed(start))
    if not (more or whole or (nulls and cursor.nulls())):
        return None
    high = last if high is None else high
    found = CursorBatch(way=way, start=start, last=last, high=high, nulls=nulls, cut=cut is not None)
    way.require_room(found.high)
    return found


def _nulls(cursor: Cursor, asked: JdbcIncremental, start: CursorPosition, *, whole: bool) -> bool:
    """Whether rows without a value are read now; refuses them where the file does not include them."""
    if asked.null_cursors == "include":
        return whole or not start.nulls
    if count := cursor.nulls():
        raise NullCursorsError(cursor.relation.said, cursor.reading.name, count)
    return False


class Way(ABC):
    """How rows are delivered of which some may have been delivered before."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that tell rows apart, where that matters."""
        return ()

    @abstractmethod
    def require_same(self, start: CursorPosition) -> None:
        """Refuse a position from which rows could not be told apart."""

    @abstractmethod
    def require_room(self, high: str | None) -> None:
        """Refuse to end where a position would become too large."""

    @abstractmethod
    def since(self, last: str) -> str:
        """The smallest value that is read, as SQL, where the last batch ended at a value."""

    @abstractmethod
    def changed(self, start: CursorPosition) -> bool:
        """Whether there is something new among what would be read, though no larger value is there."""

    @abstractmethod
    def readings(self, last: str | None, high: str | None) -> tuple[Reading, ...]:
        """What is read besides."""

    @abstractmethod
    def fresh(self, rows: DataFrame, start: CursorPosition) -> DataFrame:
        """The rows to deliver."""

    @abstractmethod
    def ended(self, rows: DataFrame, start: CursorPosition, end: CursorPosition) -> CursorPosition:
        """The position at its value, with what these rows tell of it."""


class Once(Way):
    """Every row is delivered once: those at the value where a batch ended are known by their keys."""

    def __init__(self, cursor: Cursor, keys: Sequence[Reading]) -> None:
        super().__init__(cursor)
        self._keys = tuple(keys)
        self._hashed = cursor.session.database.hashed(self._keys)

    @property
    def names(self) -> tuple[str, ...]:
        """The keys."""
        return tuple(key.name for key in self._keys)

    def require_same(self, start: CursorPosition) -> None:
        """The keys must be those by which rows were told apart before."""
        if start.again is not None:
            raise KeysUnknownError("the last batch was no Append, and did not keep which rows had landed")
        if start.at and start.keys != self.names:
            raise KeysUnknownError(
                f"rows were told apart by {', '.join(start.keys)} so far, and now by {', '.join(self.names)}"
            )

    def require_room(self, high: str | None) -> None:
        """So many rows at a value as a position can hold."""
        if high is not None and self.cursor.count(self._at(high), MOST_TIES + 1) > MOST_TIES:
            raise self._too_many(high)

    def _too_many(self, high: str) -> TooManyTiesError:
        return TooManyTiesError(self.cursor.relation.said, self.cursor.reading.name, high)

    def _at(self, value: str) -> str:
        return f"{self.cursor.column} = {self.cursor.spelled(value)}"

    def since(self, last: str) -> str:
        """The value itself: a row there may have come since."""
        return self.cursor.spelled(last)

    def changed(self, start: CursorPosition) -> bool:
        """Whether a row has come at the very value."""
        assert start.value is not None
        return not self.cursor.hashes(self._at(start.value), self._hashed) <= start.at

    def readings(self, last: str | None, high: str | None) -> tuple[Reading, ...]:
        """The hash of the key, at both ends."""
        ends = ((LAST, last), (HIGH, high))
        return tuple(_only(name, self._at(value), self._hashed, "string") for name, value in ends if value is not None)

    def fresh(self, rows: DataFrame, start: CursorPosition) -> DataFrame:
        """Without those that were there before."""
        from pyspark.sql.functions import col

        if LAST not in rows.columns or not start.at:
            return rows
        return rows.where(col(LAST).isNull() | ~col(LAST).isin(*sorted(start.at)))

    def ended(self, rows: DataFrame, start: CursorPosition, end: CursorPosition) -> CursorPosition:
        """With the keys at its value, those from before included where no larger value came."""
        found = rows.where(f"{HIGH} IS NOT NULL").select(HIGH).distinct().limit(MOST_TIES + 1).collect()
        before = start.at if start.value == end.value else frozenset()
        at = before | {row[HIGH] for row in found}
        if len(at) > MOST_TIES:
            assert end.value is not None
            raise self._too_many(end.value)
        return replace(end, at=at)


class Again(Way):
    """Rows may be delivered twice: what is at the value where a batch ended is read again when it has changed."""

    def __init__(self, cursor: Cursor, readings: Sequence[Reading], lag: timedelta | int | None) -> None:
        super().__init__(cursor)
        database = cursor.session.database
        self._lag, self._number = lag, database.hash_number(database.hashed(readings))

    def require_same(self, start: CursorPosition) -> None:
        """Rows need not be told apart."""

    def require_room(self, high: str | None) -> None:
        """No keys are kept, so that there is always room."""

    def since(self, last: str) -> str:
        """The value less the lag."""
        return self.cursor.earlier(last, self._lag)

    def _from(self, value: str) -> str:
        return f"{self.cursor.column} >= {self.since(value)}"

    def changed(self, start: CursorPosition) -> bool:
        """Whether rows that would be read again are other ones by now."""
        assert start.value is not None
        within = f"{self._from(start.value)} AND {self.cursor.column} <= {self.cursor.spelled(start.value)}"
        return self.cursor.likeness(within, self._number) != start.again

    def readings(self, last: str | None, high: str | None) -> tuple[Reading, ...]:
        """A hash of all that the next batch reads again."""
        return () if high is None else (_only(HIGH, self._from(high), self._number, "bigint"),)

    def fresh(self, rows: DataFrame, start: CursorPosition) -> DataFrame:
        """All of them."""
        return rows

    def ended(self, rows: DataFrame, start: CursorPosition, end: CursorPosition) -> CursorPosition:
        """With what the rows are like that are read again."""
        total = f"sum(CAST({HIGH} AS DECIMAL(38, 0))) AS total"
        found = rows.selectExpr(HIGH).agg(*_expressions(f"count({HIGH}) AS count", total)).collect()[0]
        return replace(end, again=likeness(found["count"], found["total"]))


def way_of(cursor: Cursor, asked: JdbcIncremental, readings: Sequence[Reading], *, once: bool) -> Way:
    """How rows are delivered to one who must see each once, or to one who may see them twice."""
    session, relation = cursor.session, cursor.relation
    if not once:
        # A query may show another moment in a column each time it is asked: only a table tells what has changed.
        is_table = relation.table is not None and session.database.size(session, relation) is not None
        return Again(cursor, readings if is_table else [cursor.reading], asked.lag)
    names = asked.key_columns or (session.database.primary(session, relation) if relation.table else ())
    if not names:
        raise ConfigError(
            f"{relation.said} has no primary key, so that nobody can tell rows with the same "
            f"{cursor.reading.name} apart.",
            hint='Name keyColumns: ["id"] under incremental, or use writeMode: Upsert.',
        )
    keys = [named(name, readings) for name in names]
    if floating := next((key.name for key in keys if key.kind in {"float", "double"}), None):
        raise ConfigError(
            f"{floating!r} cannot be one of keyColumns: floating numbers have no exact text.",
            hint="Name other columns, or use writeMode: Upsert.",
        )
    return Once(cursor, keys)


def _only(name: str, condition: str, value: str, kind: str) -> Reading:
    return Reading(name=name, kind=kind, select=f"CASE WHEN {condition} THEN {value} END")


def _expressions(*texts: str) -> list[Any]:
    from pyspark.sql.functions import expr

    return [expr(text) for text in texts]


class NullCursorsError(RefusedError):
    """Rows have no cursor, so that nobody can tell whether they are new."""

    def __init__(self, what: str, column: str, count: int) -> None:
        rows = "1 row" if count == 1 else f"{count:,} rows"
        super().__init__(
            f"{what} has {rows} whose {column} is null: nobody can tell whether they are new.",
            hint="Fill it, leave them out with a query, or write nullCursors: include to read them once, at first.",
        )
        self.count = count


class KeysUnknownError(RefusedError):
    """Which rows have landed cannot be told by these keys."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"Which rows have landed cannot be told: {why}.",
            hint="Put the file back as it was; or load everything again with `deltaworks run FILE --full-refresh`.",
        )
