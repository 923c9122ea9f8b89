"""PostgreSQL, and what speaks like it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from deltaworks.errors import SetupError
from deltaworks.spark.databases import lexis
from deltaworks.spark.databases.base import (
    PATIENCE,
    CannotConnectError,
    Cut,
    Database,
    Ranges,
    Reading,
    Relation,
    Session,
    Size,
    Split,
    Trouble,
    authority,
    between,
    escaped,
    remainders,
)
from deltaworks.spark.databases.postgres_types import reading, type_for
from deltaworks.vault.extras import required

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltaworks.spark.databases.address import Address

PAGE = 8192
SAMPLED = 400  # pages from which ranges are found
# By the first letters; a state that is named whole stands before its class.
_STATES = {
    **dict.fromkeys(("08", "57P", "53"), Trouble.LOST),
    **dict.fromkeys(("40001", "40P01", "55P03", "42P07"), Trouble.RACED),
    **dict.fromkeys(("42501", "28"), Trouble.FORBIDDEN),
    **dict.fromkeys(("42", "3F", "22", "0A"), Trouble.WRONG),
}


class Postgres(Database):
    """PostgreSQL."""

    utc: ClassVar[str] = "+00"
    lexis: ClassVar[re.Pattern[str]] = lexis.POSTGRES
    # Statements, since a pooler refuses what a connection would be opened with.
    settings: ClassVar[str] = "SET DateStyle = 'ISO, MDY'; SET IntervalStyle = 'postgres'; SET TimeZone = 'UTC'"
    unlogged: ClassVar[str] = "UNLOGGED "
    where_we_are: ClassVar[str] = "SELECT current_schema()"
    truncates_in_transaction: ClassVar[bool] = True
    delete_one: ClassVar[str] = "DELETE FROM {0} WHERE ctid IN (SELECT ctid FROM {0} LIMIT 1)"
    insert_once: ClassVar[str] = "INSERT INTO {} ON CONFLICT DO NOTHING"
    name: ClassVar[str] = "PostgreSQL"
    driver: ClassVar[str] = "org.postgresql.Driver"
    jar_group: ClassVar[str] = "postgres"
    port: ClassVar[int] = 5432

    def url(self, address: Address) -> str:
        """The url for Spark."""
        return f"jdbc:postgresql://{authority(address)}/{escaped(address.database)}"

    def properties(self, address: Address) -> dict[str, str]:
        """The login, how to encrypt, and what makes the driver fast."""
        ssl = {"sslmode": address.ssl_mode, "sslrootcert": address.ssl_root_cert}
        return {
            **{name: value for name, value in ssl.items() if value},
            "prepareThreshold": "-1",  # values in binary, from the first row on
            "reWriteBatchedInserts": "true",
            "stringtype": "unspecified",  # text may become json, uuid or an enum, as the column says
            "ApplicationName": "deltaworks",
            **address.properties,
            **address.login(),
        }

    def _connected(self, address: Address) -> Any:
        psycopg = required("psycopg", "postgres")
        ssl = {"sslmode": address.ssl_mode, "sslrootcert": address.ssl_root_cert}
        try:
            return psycopg.connect(
                host=address.host,
                port=address.port,
                dbname=address.database,
                connect_timeout=PATIENCE,
                application_name="deltaworks",
                autocommit=True,
                **address.login(),
                **{name: value for name, value in ssl.items() if value},
            )
        except (psycopg.OperationalError, UnicodeError) as error:  # a name that is none
            raise CannotConnectError(self.name, address, _line(error)) from error

    def trouble(self, error: Exception) -> tuple[Trouble, str] | None:
        """By what PostgreSQL calls SQLSTATE, of which a lost connection has none."""
        psycopg = required("psycopg", "postgres")
        if not isinstance(error, psycopg.Error):
            return None
        lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        state = error.sqlstate or ("08" if lost else "")
        kind = next((kind for start, kind in _STATES.items() if state.startswith(start)), Trouble.OTHER)
        return kind, _line(error)

    def quoted(self, name: str) -> str:
        """Spell a name."""
        return '"' + name.replace('"', '""') + '"'

    def literal(self, text: str) -> str:
        """Spell a text value."""
        return "'" + text.replace("'", "''") + "'"

    def for_java(self, statement: str) -> str:
        """With question marks that are operators."""
        return lexis.without_placeholders(statement, lexis.POSTGRES)

    def begun(self, session: Session, snapshot: str | None, statement: str | None) -> dict[str, str]:
        """By statements; as Spark asks for columns without them, the path on which tables are found is told besides."""
        begin = self.for_java("; ".join(filter(None, (snapshot, self.settings, statement))))
        path = session.rows("SELECT setting FROM pg_settings WHERE name = 'search_path' AND source = 'session'")
        return {"sessionInitStatement": begin, **({"currentSchema": path[0][0]} if path else {})}

    def tables(self, session: Session, schema: str | None) -> list[str]:
        """Tables, partitioned ones as a whole; no views."""
        found = session.rows(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = coalesce(%s, current_schema()) AND c.relkind IN ('r', 'p') AND NOT c.relispartition "
            "AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1",
            schema,
        )
        return [name for (name,) in found]

    def readings(self, session: Session, relation: Relation) -> tuple[Reading, ...]:
        """How each column is read, by its type."""
        with session.asked(f"SELECT * FROM {self.spelled(relation)} LIMIT 0") as cursor:
            columns = cursor.description
        kinds = self._kinds(session, [(each.type_code, each._fmod) for each in columns])
        return tuple(
            reading(each.name, self.quoted(each.name), kind) for each, kind in zip(columns, kinds, strict=True)
        )

    def _kinds(self, session: Session, types: list[tuple[int, int]]) -> list[str]:
        """The names of types, with their lengths; a domain's is that of what it is made of, an enum's is `enum`."""
        found = session.rows(
            "WITH RECURSIVE asked AS (SELECT * FROM unnest(%s::oid[], %s::int[]) WITH ORDINALITY AS t(type, mod, at)), "
            "base AS (SELECT at, type, mod FROM asked UNION ALL "
            "SELECT base.at, t.typbasetype, t.typtypmod FROM base JOIN pg_type t ON t.oid = base.type "
            "WHERE t.typtype = 'd') "
            "SELECT CASE WHEN t.typtype = 'e' THEN 'enum' WHEN e.typtype = 'e' THEN 'enum[]' "
            "ELSE format_type(t.oid, base.mod) END "
            "FROM base JOIN pg_type t ON t.oid = base.type "
            "LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A' WHERE t.typtype <> 'd' ORDER BY at",
            [kind for kind, _ in types],
            [mod for _, mod in types],
        )
        return [kind for (kind,) in found]

    def size(self, session: Session, relation: Relation) -> Size | None:
        """How many bytes the rows of a table, a partitioned one or a kept view take."""
        found = session.rows(
            "SELECT c.relkind = 'p', (SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree(c.oid))::bigint, "
            "pg_relation_size(c.oid) FROM pg_class c WHERE c.oid = to_regclass(%s) AND c.relkind IN ('r', 'p', 'm')",
            self.spelled(relation),
        )
        return next((Size(bytes=of_all or own, of_parts=of_parts) for of_parts, of_all, own in found), None)

    def indexed(self, session: Session, relation: Relation) -> list[str]:
        """The primary key's, then those of unique indexes, then others; no lists and rows, which have no percentile."""
        found = session.rows(
            "SELECT a.attname FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam "
            "JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] "
            "JOIN pg_type t ON t.oid = a.atttypid AND t.typcategory NOT IN ('A', 'C') "
            "WHERE i.indrelid = to_regclass(%s) AND i.indisvalid AND i.indpred IS NULL AND m.amname = 'btree' "
            "GROUP BY a.attname ORDER BY max(i.indisprimary::int) DESC, max(i.indisunique::int) DESC, 1",
            self.spelled(relation),
        )
        return [name for (name,) in found]

    def primary(self, session: Session, relation: Relation) -> list[str]:
        """In the order of the index."""
        found = session.rows(
            "SELECT a.attname FROM pg_index i "
            "JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) "
            "WHERE i.indrelid = to_regclass(%s) AND i.indisprimary ORDER BY array_position(i.indkey::int2[], a.attnum)",
            self.spelled(relation),
        )
        return [name for (name,) in found]

    def ranges(self, session: Session, relation: Relation, column: str, cut: Cut) -> Ranges:
        """As a sample of the table's pages tells, or a query's rows."""
        name, places = self.quoted(column), ", ".join(str(part / cut.parts) for part in range(1, cut.parts))
        rows = f"{self.spelled(relation)}{_sample(cut.size)}"
        ((found,),) = session.rows(
            f"SELECT (percentile_disc(ARRAY[{places}]::float8[]) WITHIN GROUP (ORDER BY {name}))::text[] FROM {rows}"
        )
        bounds = tuple(self.literal(bound) for bound in found or () if bound is not None)
        if not bounds or cut.size is None:
            return Ranges(bounds=bounds)
        counts = ", ".join(f"count(*) FILTER (WHERE {part})" for part in between(name, bounds))
        (shares,) = session.rows(f"SELECT {counts} FROM {rows}")
        return Ranges(bounds=bounds, heaviest=max(shares) / max(sum(shares), 1))

    def scattered(self, session: Session, relation: Relation, cut: Cut) -> Split:
        """By the pages rows lie on, which costs nothing; of a partitioned table, by a hash of each row's place."""
        if cut.size and not cut.size.of_parts:
            return Split(by="pages", conditions=_pages(-(-cut.size.bytes // PAGE), cut.parts))
        number = f"coalesce(abs(hashtextextended(tableoid::text || ctid::text, 0) % {cut.parts}), 0)"
        return Split(by="a hash of each row", conditions=remainders(number, cut.parts))

    def exists(self, session: Session, relation: Relation) -> bool:
        """Whether there is a table or view of this name."""
        return session.rows("SELECT to_regclass(%s) IS NOT NULL", self.spelled(relation)) == [(True,)]

    def origin(self, session: Session) -> str | None:
        """The number that a cluster was given when it was made, which its standbys share."""
        try:
            ((number,),) = session.rows("SELECT system_identifier::text FROM pg_control_system()")
        except SetupError:  # not every user may know it
            return None
        return str(number)

    def table_id(self, session: Session, relation: Relation) -> str:
        """The number of a table, which it keeps when it is emptied or written anew."""
        ((number,),) = session.rows("SELECT coalesce(to_regclass(%s)::oid::text, '')", self.spelled(relation))
        return str(number)

    def number(self, session: Session, relation: Relation) -> str | None:
        """The same of what has rows of its own; a view may be made anew and show what it always did."""
        found = session.rows(
            "SELECT oid::text FROM pg_class WHERE oid = to_regclass(%s) AND relkind IN ('r', 'p', 'm')",
            self.spelled(relation),
        )
        return next((str(number) for (number,) in found), None)

    def as_text(self, value: str) -> str:
        """By the settings of a session, which are the same on all of them."""
        return f"({value})::text"

    def hashed(self, values: Sequence[Reading]) -> str:
        """Of the hashes of all values."""
        each = ", ".join(f"coalesce({_sha(self._bytes(value))}, '-')" for value in values)
        whole = _sha(f"convert_to(concat_ws(',', {each}), 'UTF8')")
        return f"left({whole}, 32)"

    def _bytes(self, value: Reading) -> str:
        return value.select if value.kind == "binary" else f"convert_to({self.as_text(value.select)}, 'UTF8')"

    def hash_number(self, hashed: str) -> str:
        """Out of 60 of its bits."""
        return f"('x' || left({hashed}, 15))::bit(60)::bigint"

    def time_type(self, kind: str, digits: int) -> str:
        """With a zone or without."""
        return f"timestamp({digits}) {'with' if kind == 'timestamp' else 'without'} time zone"

    def type_for(self, kind: str, *, key: bool) -> str | None:
        """The type of a new column."""
        return type_for(kind)

    def unique(self, session: Session, relation: Relation) -> list[frozenset[str]]:
        """Of indexes over plain columns that hold for all rows."""
        found = session.rows(
            "SELECT array_agg(a.attname::text) FROM pg_index i JOIN pg_attribute a "
            "ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey[0:i.indnkeyatts - 1]) "
            "WHERE i.indrelid = to_regclass(%s) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL "
            "AND i.indexprs IS NULL GROUP BY i.indexrelid",
            self.spelled(relation),
        )
        return [frozenset(names) for (names,) in found]

    def on_conflict(self, keys: Sequence[str], update: Sequence[str]) -> str:
        """What stands behind an INSERT."""
        target = ", ".join(map(self.quoted, keys))
        if not update:
            return f"ON CONFLICT ({target}) DO NOTHING"
        changes = ", ".join(f"{self.quoted(name)} = EXCLUDED.{self.quoted(name)}" for name in update)
        return f"ON CONFLICT ({target}) DO UPDATE SET {changes}"

    def drop_empty(self, session: Session, relation: Relation) -> None:
        """Drop a table, unless somebody has put rows into it."""
        name = self.spelled(relation)
        with session.transaction():
            session.run(f"LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE")
            if not session.rows(f"SELECT 1 FROM {name} LIMIT 1"):
                session.run(f"DROP TABLE {name}")

    def snapshot(self, session: Session) -> str | None:
        """What a connection says first, so that it sees what this one sees, for as long as this one lives."""
        session.run("SET idle_in_transaction_session_timeout = 0")
        session.run("START TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        ((name,),) = session.rows("SELECT pg_export_snapshot()")
        return f"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT {self.literal(name)}"


POSTGRES = Postgres()


def _sample(size: Size | None) -> str:
    """What stands behind a table of which only so many pages are read, the same ones each time."""
    if size is None:
        return ""
    return f" TABLESAMPLE SYSTEM ({min(100, 100 * SAMPLED * PAGE / max(size.bytes, 1)):.6f}) REPEATABLE (1)"


def _sha(value: str) -> str:
    return f"encode(sha256({value}), 'hex')"


def _pages(count: int, parts: int) -> tuple[str, ...]:
    """Ranges of the places where rows lie; the last is open, since a table may have grown."""
    bounds = [f"'({count * part // parts},0)'::tid" for part in range(1, parts)]
    return between("ctid", bounds)


def _line(error: Exception) -> str:
    """The first line of what was said, without the client's own words."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = next((line for line in lines if "FATAL:" in line), lines[0] if lines else type(error).__name__)
    without_place = re.sub(
        r'^connection failed: |connection to server at ".*?"( \(.*?\))?, port \d+ failed: ', "", told
    )
    return without_place.rpartition("FATAL:")[2].strip()
