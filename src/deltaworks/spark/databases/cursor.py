"""Where a reader of what is new in a table stands: at a value of a column that only grows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, Self

from deltaworks.errors import ConfigError, RefusedError
from deltaworks.spark.errors import ColumnNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deltaworks.spark.databases.base import Reading, Relation, Session

MOST_TIES = 10_000  # rows at one value whose keys a position can hold
TIMES = ("timestamp", "timestamp_ntz", "date")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_KINDS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint", "decimal"), "number"),
    **dict.fromkeys(("string",), "text"),
    **{kind: kind for kind in TIMES},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CursorPosition:
    """All rows up to a value of a column were read, and which of those at that value."""

    column: str
    kind: str | None = None  # what kind of value it is; none before the first row
    value: str | None = None  # exactly, as the database spells it
    keys: tuple[str, ...] = ()  # the columns that tell rows apart
    at: frozenset[str] = frozenset()  # hashes of the keys of the rows at the value that were read
    again: str | None = None  # what the rows were like that the next batch reads again
    nulls: bool = False  # rows without a value were read
    table: str | None = None  # what tells the table from one made in its place, where the database knows

    @classmethod
    def of(cls, position: Any) -> Self:
        """Understand a position as a commit spells it."""
        value = position.get("value")
        if value is not None and (not isinstance(value, str) or position["kind"] not in _KINDS.values()):
            raise ValueError(value)
        return cls(
            column=position["column"],
            kind=position["kind"] if value is not None else None,
            value=value,
            keys=tuple(position.get("keys", ())),
            at=frozenset(position.get("at", ())),
            again=position.get("again"),
            nulls=bool(position.get("nulls")),
            table=position.get("table"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Spell it as a commit does."""
        own = {
            "kind": self.kind,
            "value": self.value,
            "keys": list(self.keys) or None,
            "at": sorted(self.at) or None,
            "again": self.again,
            "nulls": self.nulls or None,
            "table": self.table,
        }
        return {"column": self.column, **{name: value for name, value in own.items() if value is not None}}

    def __str__(self) -> str:
        return f"{self.column} up to {self.value}" if self.value is not None else f"the beginning of {self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """A column of a table or a query by which rows are told new, asked about on one connection.

    All comparing is left to the database: only that knows in which order its values are.
    """

    session: Session
    relation: Relation
    reading: Reading
    kind: str
    table: str | None = None  # what tells the table from one made in its place, where the database knows

    @classmethod
    def found(cls, session: Session, relation: Relation, column: str, readings: Sequence[Reading]) -> Self:
        """Look for the column; refuses one whose values have no exact order."""
        reading = named(column, readings)
        kind = _KINDS.get(reading.kind.partition("(")[0])
        if kind is None or reading.sorted_else:
            raise ConfigError(
                f"{reading.name!r} cannot be a cursorColumn: values of type {reading.kind} have no exact order.",
                hint="Name a column of whole numbers, decimals, dates, times or text.",
            )
        table = session.database.number(session, relation) if relation.table else None
        return cls(session=session, relation=relation, reading=reading, kind=kind, table=table)

    @property
    def column(self) -> str:
        """The column, as SQL."""
        return self.session.database.quoted(self.reading.name)

    @property
    def _table(self) -> str:
        return self.session.database.spelled(self.relation)

    def spelled(self, value: str) -> str:
        """A value as SQL; numbers without quotes, since MySQL takes those in quotes for floating ones."""
        if self.kind != "number":
            return self.session.database.literal(value)
        if not _NUMBER.fullmatch(value):
            raise ConfigError(f"{value!r} is no number, as {self.reading.name!r} is.", hint="Write a number.")
        return value

    def is_before(self, value: str, other: str) -> bool:
        """Whether a value comes before another one, in the order of the column."""
        ((found,),) = self.session.rows(f"SELECT {self._alone(value)} < {self._alone(other)}")
        return bool(found)

    def _alone(self, value: str) -> str:
        """A value as SQL that is compared as those of the column are, though none of them stands beside it."""
        spelled = self.spelled(value)
        if self.kind == "text":
            return f"(SELECT {self.column} FROM {self._table} WHERE 1 = 0 UNION ALL SELECT {spelled})"
        return self.session.database.earlier(spelled, self.kind, timedelta()) if self.kind in TIMES else spelled

    def newest(self, beyond: str | None = None) -> str | None:
        """The largest value there is, beyond a value where one is given; none where there is no such row."""
        text = self.session.database.as_text(f"max({self.column})")
        ((found,),) = self.session.rows(f"SELECT {text} FROM {self._table} WHERE {self._beyond(beyond)}")
        return self._ordered(found)

    def after(self, value: str | None, rows: int) -> str | None:
        """The value of the row so many rows behind a value; none where there are fewer."""
        found = self.session.rows(
            f"SELECT {self.session.database.as_text(self.column)} FROM {self._table} WHERE {self._beyond(value)} "
            f"ORDER BY {self.column} LIMIT 1 OFFSET {rows - 1}"
        )
        return self._ordered(found[0][0]) if found else None

    def _beyond(self, value: str | None) -> str:
        return f"{self.column} IS NOT NULL" if value is None else f"{self.column} > {self.spelled(value)}"

    def _ordered(self, value: str | None) -> str | None:
        """Refuse a value behind which nothing can come."""
        endless = value is not None and self.kind != "text" and value.lower().lstrip("-") in {"nan", "infinity"}
        if value is not None and (endless or (self.kind == "number" and not _NUMBER.fullmatch(value))):
            raise RefusedError(
                f"A row has {value} in {self.reading.name!r}, behind which nothing can come.",
                hint="Mend that row, or leave it out with a query.",
            )
        return value

    def nulls(self) -> int:
        """How many rows have no value."""
        ((count,),) = self.session.rows(f"SELECT count(*) FROM {self._table} WHERE {self.column} IS NULL")
        return int(count)

    def count(self, condition: str, most: int) -> int:
        """How many rows a condition selects, up to a limit."""
        some = f"SELECT 1 FROM {self._table} WHERE {condition} LIMIT {most}"
        ((count,),) = self.session.rows(f"SELECT count(*) FROM ({some}) AS counted")
        return int(count)

    def hashes(self, condition: str, hashed: str) -> frozenset[str]:
        """The different hashes of rows that a condition selects, up to one more than a position can hold."""
        found = self.session.rows(
            f"SELECT DISTINCT {hashed} AS h FROM {self._table} WHERE {condition} LIMIT {MOST_TIES + 1}"
        )
        return frozenset(str(each) for (each,) in found)

    def likeness(self, condition: str, number: str) -> str:
        """What rows that a condition selects are like: another text as soon as one comes, goes or changes."""
        found = self.session.rows(f"SELECT count(*), sum({number}) FROM {self._table} WHERE {condition}")
        return likeness(*found[0])

    def earlier(self, value: str, lag: timedelta | int | None) -> str:
        """A value so much smaller, as SQL."""
        if not lag:
            return self.spelled(value)
        if self.kind == "number" and isinstance(lag, int):
            digits = Context(prec=len(value) + len(str(lag)))
            return f"{digits.subtract(Decimal(value), Decimal(lag)):f}"
        if self.kind in TIMES and isinstance(lag, timedelta):
            return self.session.database.earlier(self.spelled(value), self.kind, lag)
        wanted = "a whole number" if self.kind == "number" else "a duration such as 10m"
        raise ConfigError(
            f"lag does not fit {self.reading.name!r}, which is {self.reading.kind}.",
            hint="Leave lag out: text has no distance." if self.kind == "text" else f"Write {wanted}.",
        )

    def require_there(self, position: CursorPosition) -> None:
        """Refuse a position of another column, or one that the table has not reached any more."""
        if position.value is None:
            return
        self.require_same(position)
        if position.column.lower() != self.reading.name.lower():
            raise CursorLostError(
                self.relation.said, f"it was read by {position.column!r} so far, and now by {self.reading.name!r}"
            )
        if position.kind != self.kind:
            raise CursorLostError(
                self.relation.said, f"{position.column!r} was of kind {position.kind}, and is {self.reading.kind} now"
            )
        if not self.count(f"{self.column} >= {self.spelled(position.value)}", 1):
            raise CursorLostError(self.relation.said, self._rewound(position.value))

    def require_same(self, position: CursorPosition) -> None:
        """Refuse a position in a table that another one has taken the place of, however far that has grown."""
        if position.table and self.table and position.table != self.table:
            raise CursorLostError(self.relation.said, "it was dropped and made anew since it was read")

    def _rewound(self, value: str) -> str:
        newest = self.newest()
        now = "there is no row" if newest is None else f"the newest row has {newest}"
        return (
            f"it was read up to {self.reading.name} {value}, and {now} now: rows were taken away or the table replaced"
        )


def named(column: str, readings: Iterable[Reading]) -> Reading:
    """The reading of a column by its name; one spelled in another case counts where no other does."""
    readings = tuple(readings)
    exact = [each for each in readings if each.name == column]
    found = exact or [each for each in readings if each.name.lower() == column.lower()]
    if not found:
        raise ColumnNotFoundError(column, [each.name for each in readings])
    return found[0]


def likeness(count: Any, total: Any) -> str:
    """What rows are like, by their number and the sum of their hashes."""
    return f"{count}:{total or 0}"


class CursorLostError(RefusedError):
    """The table is not as it was when it was read last: going on would lose or mistake rows."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(
            f"{what} cannot be read from where the last batch ended: {why}.",
            hint="Load everything again with `deltaworks run FILE --full-refresh`; or say where to go on: "
            "`deltaworks state set FILE --position …`.",
        )


class TooManyTiesError(RefusedError):
    """So many rows share the cursor's last value that a position cannot tell which of them have landed."""

    def __init__(self, what: str, column: str, value: str) -> None:
        super().__init__(
            f"{what} has more than {MOST_TIES:,} rows with {column} {value}, where the batch would end: which of them "
            "have landed cannot be kept.",
            hint="Use writeMode: Upsert, which may read rows twice; or a cursorColumn whose values differ more.",
        )
