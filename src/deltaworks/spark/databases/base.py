"""What every database can be asked, and what its answers are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from deltaworks.errors import AwayError, ConfigError, ConflictError, DeltaworksError, RunError, SetupError
from deltaworks.spark.databases.lexis import without_end

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import timedelta

    from deltaworks.spark.databases.address import Address

PATIENCE = 10  # seconds to wait for a server
MICROSECONDS = 6  # digits of a second, as many as Spark keeps


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What is read: a table, or what a query gives."""

    table: str | None = None
    schema: str | None = None
    query: str | None = None

    @property
    def said(self) -> str:
        """Its name, as people write it."""
        return "a query" if self.table is None else f"table {'.'.join(filter(None, (self.schema, self.table)))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How one column is read so that its values stay what they are: in the database's SQL, then in Spark's."""

    name: str
    kind: str  # the type it has in Spark
    select: str
    then: str | None = None
    digits: int = MICROSECONDS  # of a second, which a time keeps
    sorted_else: bool = False  # the database puts its values in another order than what is read of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """How a read is shared out among connections: one condition each, which together select every row once."""

    by: str  # as people read it
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges:
    """Values of a column, as SQL and in order, by which rows are shared out."""

    bounds: tuple[str, ...]
    heaviest: float = 0  # the share of all rows that the largest part has, about; 0 where nobody looked


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What one run reads of a database, decided before the first row."""

    readings: tuple[Reading, ...]
    selects: tuple[str, ...]  # one for each connection
    by: str | None = None  # what the connections share the rows out by
    options: Mapping[str, str] = field(default_factory=dict)  # by which connections begin as they must
    snapshot: str | None = None  # the statement by which every connection sees the same moment
    why_one: str | None = None  # why there is one connection, where that is worth knowing


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """About how large a table is."""

    bytes: int
    rows: int = 0
    of_parts: bool = False  # it has no rows of its own: its partitions do


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Into how many parts to cut, and how large the whole is, where it is a table."""

    parts: int
    size: Size | None = None


class Session:
    """One connection of ours to a database; what goes wrong on it is told in our words."""

    def __init__(self, database: Database, connection: Any) -> None:
        self.database, self._connection = database, connection

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """All that a query gives."""
        with self._told(), self._connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return list(cursor.fetchall())

    def run(self, statement: str, *values: object) -> int:
        """Carry a statement out; how many rows it touched."""
        with self._told(), self._connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return int(cursor.rowcount)

    @contextmanager
    def asked(self, query: str) -> Iterator[Any]:
        """The client's own cursor of a query, which describes its columns."""
        with self._told(), self._connection.cursor() as cursor:
            cursor.execute(query, None)
            yield cursor

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that happens inside, or nothing of it."""
        self.run("START TRANSACTION")
        try:
            yield
        except BaseException:
            with suppress(Exception):  # a connection that is lost has taken everything back itself
                self._connection.rollback()
            raise
        self.commit()

    def commit(self) -> None:
        """Make what a transaction did count."""
        with self._told():
            self._connection.commit()

    def close(self) -> None:
        """Let go of the server."""
        self._connection.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            found = self.database.told(error)
            if found is None:
                raise
            raise found from error


class Database(ABC):
    """One kind of database."""

    exact_text: ClassVar[str] = "varchar({})"  # a type whose values are equal only where all their signs are
    keeper: ClassVar[str] = ""  # what stands behind CREATE TABLE, so that a transaction can take its rows back
    utc: ClassVar[str] = ""  # what stands behind a time to say that it is UTC, where sessions may mean another zone
    lexis: ClassVar[re.Pattern[str]]  # what is no code in its statements
    where_we_are: ClassVar[str]  # the query for the schema that a name alone means
    settings: ClassVar[str] = ""  # what a session says first, so that values mean the same on all of them
    long_text: ClassVar[str] = "text"  # a type for text of any length
    unlogged: ClassVar[str] = ""  # what makes a table cheap that nobody misses after a crash
    truncates_in_transaction: ClassVar[bool] = False  # and takes it back with it
    delete_one: ClassVar[str]  # DELETE of any one row of a table
    insert_once: ClassVar[str]  # INSERT of a row that may be there already: what stands around it
    name: ClassVar[str]
    driver: ClassVar[str]
    jar_group: ClassVar[str]
    port: ClassVar[int]

    @abstractmethod
    def url(self, address: Address) -> str:
        """The url for Spark, which holds no secret."""

    @abstractmethod
    def properties(self, address: Address) -> dict[str, str]:
        """What else Java's driver is told, the login included."""

    @abstractmethod
    def trouble(self, error: Exception) -> tuple[Trouble, str] | None:
        """What kind of trouble an error of the client's is, and what the server said; none when it is not its own."""

    def told(self, error: Exception) -> DeltaworksError | None:
        """Our error for one of the client's; none when it is not the client's."""
        found = self.trouble(error)
        if found is None:
            return None
        kind, said = found
        error_of, verb, hint = _TROUBLES[kind]
        return error_of(f"{self.name} {verb}: {said}", hint=hint)

    @abstractmethod
    def _connected(self, address: Address) -> Any:
        """A connection of Python's client that commits each statement."""

    @contextmanager
    def session(self, address: Address, begin: str | None = None) -> Iterator[Session]:
        """A connection of our own, which may begin with a statement, closed at the end."""
        session = Session(self, self._connected(address))
        try:
            for statement in filter(None, (self.settings, begin)):
                session.run(statement)
            yield session
        finally:
            session.close()

    @abstractmethod
    def quoted(self, name: str) -> str:
        """Spell a name so that this database takes it as one name, whatever it contains."""

    @abstractmethod
    def literal(self, text: str) -> str:
        """Spell a text value."""

    def spelled(self, relation: Relation) -> str:
        """Spell a relation so that it can stand behind FROM."""
        if relation.table is None:
            # The line end, because a query may end with a comment.
            return f"({without_end(relation.query or '', self.lexis)}\n) AS given"
        return ".".join(self.quoted(part) for part in (relation.schema, relation.table) if part)

    def for_java(self, statement: str) -> str:
        """A statement as Java's driver wants it."""
        return statement

    @abstractmethod
    def begun(self, session: Session, snapshot: str | None, statement: str | None) -> dict[str, str]:
        """Options of Spark's by which its connections begin as this session did: with the file's statement, too."""

    @abstractmethod
    def tables(self, session: Session, schema: str | None) -> list[str]:
        """The tables of a schema, by name."""

    @abstractmethod
    def readings(self, session: Session, relation: Relation) -> tuple[Reading, ...]:
        """How each column is read."""

    @abstractmethod
    def size(self, session: Session, relation: Relation) -> Size | None:
        """How large a table is; none for what is no table."""

    @abstractmethod
    def indexed(self, session: Session, relation: Relation) -> list[str]:
        """The first columns of a table's indexes, those first by which it is best shared out."""

    @abstractmethod
    def primary(self, session: Session, relation: Relation) -> list[str]:
        """The columns of a table's primary key, in their order."""

    @abstractmethod
    def ranges(self, session: Session, relation: Relation, column: str, cut: Cut) -> Ranges:
        """Values of a column between which there are about as many rows, as far as its values allow."""

    @abstractmethod
    def scattered(self, session: Session, relation: Relation, cut: Cut) -> Split:
        """How to share out a table that has no index to share it out by."""

    def in_full(self, session: Session, relation: Relation) -> str:
        """The name of a table with its schema, whether that was said or not."""
        schema = relation.schema or session.rows(self.where_we_are)[0][0]
        return f"{schema}.{relation.table}"

    @abstractmethod
    def exists(self, session: Session, relation: Relation) -> bool:
        """Whether there is a table of this name."""

    def origin(self, session: Session) -> str | None:
        """What tells this server from all others, wherever it is reached; none where nothing does."""
        return None

    def table_id(self, session: Session, relation: Relation) -> str:
        """What tells a table from one made in its place, as far as the database knows; nothing where none is."""
        return "there" if self.exists(session, relation) else ""

    def number(self, session: Session, relation: Relation) -> str | None:
        """What tells a table whose rows are read from one made in its place; none where nothing does."""
        return None

    @abstractmethod
    def type_for(self, kind: str, *, key: bool) -> str | None:
        """The type of a new column for values of one of Spark's types; none where there is none."""

    @abstractmethod
    def unique(self, session: Session, relation: Relation) -> list[frozenset[str]]:
        """The columns of each unique index of a table."""

    @abstractmethod
    def on_conflict(self, keys: Sequence[str], update: Sequence[str]) -> str:
        """What stands behind an INSERT, so that rows whose keys are there already become updates."""

    @abstractmethod
    def drop_empty(self, session: Session, relation: Relation) -> None:
        """Drop a table, unless somebody has put rows into it."""

    def without_transactions(self, session: Session, relation: Relation) -> str | None:
        """What keeps a table, where that cannot take back what a failed load did; none where it can."""
        return None

    @abstractmethod
    def time_type(self, kind: str, digits: int) -> str:
        """The type of a time, for a CAST, that keeps so many digits of a second."""

    @abstractmethod
    def as_text(self, value: str) -> str:
        """SQL for a value as text, from which the same value can be read again."""

    @abstractmethod
    def hashed(self, values: Sequence[Reading]) -> str:
        """SQL for a hash of values of a row as 32 hexadecimal digits, the same on every connection."""

    @abstractmethod
    def hash_number(self, hashed: str) -> str:
        """SQL for a whole number out of such a hash, of which sums can be made."""

    def earlier(self, time: str, kind: str, by: timedelta) -> str:
        """SQL for a time, given as SQL, so much earlier."""
        cast = self.time_type("timestamp" if kind == "timestamp" else "timestamp_ntz", MICROSECONDS)
        return f"(CAST({time} AS {cast}) - INTERVAL '{by.total_seconds():.6f}' SECOND)"

    def snapshot(self, session: Session) -> str | None:
        """The statement that lets other connections see what this one sees; none where there is no such thing."""
        return None


class BrokenOffError(AwayError):
    """The connection was lost; what it was asked last may have been done or not."""


class Trouble(Enum):
    """What a server may have against a statement."""

    LOST = "lost"
    RACED = "raced"
    FORBIDDEN = "forbidden"
    WRONG = "wrong"
    OTHER = "other"


_TROUBLES: dict[Trouble, tuple[type[DeltaworksError], str, str]] = {
    Trouble.LOST: (BrokenOffError, "broke off", "Nothing was written; run it again."),
    Trouble.RACED: (ConflictError, "says", "Another writer was in the way; run it again."),
    Trouble.FORBIDDEN: (SetupError, "refuses", "Give this user the right, or use another one."),
    Trouble.WRONG: (ConfigError, "says", "Change it in the pipeline file."),
    Trouble.OTHER: (RunError, "says", "Nothing was written; mend the cause and run again."),
}


class CannotConnectError(SetupError):
    """The server does not answer, or does not let us in."""

    def __init__(self, name: str, address: Address, why: str) -> None:
        super().__init__(
            f"{name} at {address.host}:{address.port} cannot be reached: {why}",
            hint="Check host, port, database, and the user and password of the credential.",
        )


def authority(address: Address) -> str:
    """Host and port inside a url."""
    return f"{f'[{address.host}]' if ':' in address.host else address.host}:{address.port}"


def escaped(database: str) -> str:
    """The name of a database inside a url."""
    return quote(database, safe="")


def between(column: str, bounds: Sequence[str]) -> tuple[str, ...]:
    """One condition for each part that bounds, given as SQL in order, make of a column; nulls are in the first."""
    distinct = list(dict.fromkeys(bounds))
    if not distinct:
        return ()
    first = f"({column} < {distinct[0]} OR {column} IS NULL)"
    middle = [f"{column} >= {low} AND {column} < {high}" for low, high in pairwise(distinct)]
    return (first, *middle, f"{column} >= {distinct[-1]}")


def remainders(number: str, parts: int) -> tuple[str, ...]:
    """One condition for each part that the remainder of a number, which is never null, makes."""
    return tuple(f"{number} = {part}" for part in range(parts))
