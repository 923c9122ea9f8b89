"""MySQL and MariaDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

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
    escaped,
    remainders,
)
from deltaworks.spark.databases.mysql_ranges import estimated
from deltaworks.spark.databases.mysql_types import Described, reading, type_for
from deltaworks.vault.extras import required

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from deltaworks.spark.databases.address import Address

# Times mean UTC, and a value that does not fit is an error.
_SESSION = "time_zone='+00:00',sql_mode=CONCAT(@@sql_mode,',STRICT_ALL_TABLES')"
_IS_TABLE = "table_type IN ('BASE TABLE', 'SYSTEM VERSIONED')"


_NUMBERS = {
    **dict.fromkeys((1053, 1077, 1079, 1080, 1152, 1158, 1159, 1160, 1161, 1927, 2006, 2013, 2055), Trouble.LOST),
    **dict.fromkeys((1050, 1205, 1213, 3572), Trouble.RACED),
    **dict.fromkeys((1044, 1045, 1142, 1143, 1227, 1370), Trouble.FORBIDDEN),
    **dict.fromkeys((1046, 1049, 1051, 1052, 1054, 1055, 1056, 1060, 1064, 1066, 1102, 1103, 1109), Trouble.WRONG),
    **dict.fromkeys((1111, 1140, 1146, 1222, 1235, 1241, 1242, 1247, 1248, 1305, 1356, 1582), Trouble.WRONG),
}


class MySql(Database):
    """MySQL and MariaDB, through MariaDB's driver."""

    exact_text: ClassVar[str] = "varchar({}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
    keeper: ClassVar[str] = " ENGINE=InnoDB"
    long_text: ClassVar[str] = "longtext"
    lexis: ClassVar[re.Pattern[str]] = lexis.MYSQL
    where_we_are: ClassVar[str] = "SELECT database()"
    delete_one: ClassVar[str] = "DELETE FROM {} LIMIT 1"
    insert_once: ClassVar[str] = "INSERT IGNORE INTO {}"
    name: ClassVar[str] = "MySQL"
    driver: ClassVar[str] = "org.mariadb.jdbc.Driver"
    jar_group: ClassVar[str] = "mysql"
    port: ClassVar[int] = 3306

    def url(self, address: Address) -> str:
        """The url for Spark: by the name of MariaDB, Spark would read the names of columns as their values."""
        return f"jdbc:mysql://{authority(address)}/{escaped(address.database)}?permitMysqlScheme"

    def properties(self, address: Address) -> dict[str, str]:
        """The login, how to encrypt, and what makes values come through as they are."""
        ssl = {"sslMode": _SSL.get(address.ssl_mode or ""), "serverSslCert": address.ssl_root_cert}
        return {
            **{name: value for name, value in ssl.items() if value},
            "tinyInt1isBit": "false",
            "yearIsDateType": "false",
            "useBulkStmts": "true",
            "sessionVariables": _SESSION,
            **address.properties,
            **address.login(),
        }

    def _connected(self, address: Address) -> Any:
        pymysql = required("pymysql", "mysql")
        try:
            return pymysql.connect(
                host=address.host,
                port=address.port,
                database=address.database,
                connect_timeout=PATIENCE,
                autocommit=True,
                charset="utf8mb4",
                init_command=f"SET {_SESSION}",
                **address.login(),
                **_client_ssl(address),
            )
        except (
            pymysql.err.MySQLError,
            OSError,
            UnicodeError,
        ) as error:  # a file that is not there, a name that is none
            raise CannotConnectError(self.name, address, _line(error)) from error

    def trouble(self, error: Exception) -> tuple[Trouble, str] | None:
        """By the number of the error."""
        pymysql = required("pymysql", "mysql")
        if not isinstance(error, pymysql.err.MySQLError):
            return None
        number = error.args[0] if error.args else 0
        lost = isinstance(error, pymysql.err.InterfaceError)
        return Trouble.LOST if lost else _NUMBERS.get(number, Trouble.OTHER), _line(error)

    def quoted(self, name: str) -> str:
        """Spell a name."""
        return "`" + name.replace("`", "``") + "`"

    def literal(self, text: str) -> str:
        """Spell a text value; a backslash means one thing or another, as the server is set, so it is not written."""
        if "\\" in text:
            return f"CONVERT(X'{text.encode().hex()}' USING utf8mb4)"
        return "'" + text.replace("'", "''") + "'"

    def begun(self, session: Session, snapshot: str | None, statement: str | None) -> dict[str, str]:
        """By the driver, which does it too on the connection on which Spark asks for columns."""
        return {"initSql": statement} if statement else {}

    def tables(self, session: Session, schema: str | None) -> list[str]:
        """Tables; no views."""
        found = session.rows(
            "SELECT table_name FROM information_schema.tables "
            f"WHERE table_schema = coalesce(%s, database()) AND {_IS_TABLE} ORDER BY 1",
            schema,
        )
        return [name for (name,) in found]

    def readings(self, session: Session, relation: Relation) -> tuple[Reading, ...]:
        """How each column is read, by its type."""
        return tuple(reading(each, self.quoted(each.name)) for each in self._columns(session, relation))

    def _columns(self, session: Session, relation: Relation) -> list[Described]:
        with session.asked(f"SELECT * FROM {self.spelled(relation)} LIMIT 0") as cursor:
            return [Described.of(each) for each in cursor._result.fields]

    def size(self, session: Session, relation: Relation) -> Size | None:
        """About how many bytes and rows a table has, as the server keeps count."""
        found = session.rows(
            "SELECT data_length, table_rows FROM information_schema.tables "
            f"WHERE table_schema = coalesce(%s, database()) AND table_name = %s AND {_IS_TABLE}",
            relation.schema,
            relation.table,
        )
        return next((Size(bytes=int(size or 0), rows=int(rows or 0)) for size, rows in found), None)

    def indexed(self, session: Session, relation: Relation) -> list[str]:
        """The primary key's, then those of unique indexes, then others; only of numbers and times."""
        found = session.rows(
            "SELECT s.column_name FROM information_schema.statistics s JOIN information_schema.columns c "
            "USING (table_schema, table_name, column_name) "
            "WHERE s.table_schema = coalesce(%s, database()) AND s.table_name = %s AND s.seq_in_index = 1 "
            "AND s.index_type = 'BTREE' AND s.sub_part IS NULL "
            "AND (c.data_type LIKE '%%int' OR c.data_type IN ('decimal', 'date', 'datetime', 'timestamp')) "
            "GROUP BY s.column_name ORDER BY max(s.index_name = 'PRIMARY') DESC, min(s.non_unique), 1",
            relation.schema,
            relation.table,
        )
        return [name for (name,) in found]

    def ranges(self, session: Session, relation: Relation, column: str, cut: Cut) -> Ranges:
        """By the server's own estimates, where an index makes them; or else by walking along the column."""
        if cut.size and column in self.indexed(session, relation):
            found = estimated(session, self.spelled(relation), self.quoted(column), cut)
            if found is not None:
                return found
        return Ranges(bounds=tuple(self._walked(session, relation, column, cut)))

    def _walked(self, session: Session, relation: Relation, column: str, cut: Cut) -> list[str]:
        name, table, bounds = self.quoted(column), self.spelled(relation), list[str]()
        step = max(self._rows(session, relation, cut) // cut.parts, 1)
        for _ in range(1, cut.parts):
            after = f">= {bounds[-1]}" if bounds else "IS NOT NULL"
            found = session.rows(
                f"SELECT CAST({name} AS CHAR) FROM {table} WHERE {name} {after} ORDER BY {name} LIMIT 1 OFFSET {step}"
            )
            if not found:
                break
            bounds.append(self.literal(found[0][0]))
        return bounds

    def _rows(self, session: Session, relation: Relation, cut: Cut) -> int:
        if cut.size:
            return cut.size.rows
        ((rows,),) = session.rows(f"SELECT count(*) FROM {self.spelled(relation)}")
        return int(rows)

    def scattered(self, session: Session, relation: Relation, cut: Cut) -> Split:
        """By a hash of each primary key, or of each row; one too large to be put together counts as nothing."""
        names = self.primary(session, relation) or [each.name for each in self._columns(session, relation)]
        listed = ", ".join(map(self.quoted, names))
        number = f"COALESCE(CRC32(CONCAT_WS(',', '', {listed})), 0) % {cut.parts}"
        return Split(by="a hash of each row", conditions=remainders(number, cut.parts))

    def primary(self, session: Session, relation: Relation) -> list[str]:
        """In the order of the index."""
        found = session.rows(
            "SELECT column_name FROM information_schema.statistics WHERE table_schema = coalesce(%s, database()) "
            "AND table_name = %s AND index_name = 'PRIMARY' ORDER BY seq_in_index",
            relation.schema,
            relation.table,
        )
        return [name for (name,) in found]

    def exists(self, session: Session, relation: Relation) -> bool:
        """Whether there is a table or view of this name."""
        found = session.rows(
            "SELECT count(*) FROM information_schema.tables "
            "WHERE table_schema = coalesce(%s, database()) AND table_name = %s",
            relation.schema,
            relation.table,
        )
        return found != [(0,)]

    def without_transactions(self, session: Session, relation: Relation) -> str | None:
        """The engine of a table, where it knows no transactions; a view has none."""
        found = session.rows(
            "SELECT t.engine FROM information_schema.tables t JOIN information_schema.engines e ON e.engine = t.engine "
            "WHERE t.table_schema = coalesce(%s, database()) AND t.table_name = %s AND e.transactions <> 'YES'",
            relation.schema,
            relation.table,
        )
        return next((str(engine) for (engine,) in found), None)

    def as_text(self, value: str) -> str:
        """A session's times are UTC."""
        return f"CAST({value} AS CHAR)"

    def hashed(self, values: Sequence[Reading]) -> str:
        """Of the hashes of all values."""
        each = ", ".join(f"COALESCE(SHA2({self._bytes(value)}, 256), '-')" for value in values)
        return f"LEFT(SHA2(CONCAT_WS(',', {each}), 256), 32)"

    def _bytes(self, value: Reading) -> str:
        return value.select if value.kind == "binary" else f"CONVERT({self.as_text(value.select)} USING utf8mb4)"

    def hash_number(self, hashed: str) -> str:
        """Out of 60 of its bits."""
        return f"CAST(CONV(LEFT({hashed}, 15), 16, 10) AS SIGNED)"

    def time_type(self, kind: str, digits: int) -> str:
        """One for both: a session's times are UTC."""
        return f"datetime({digits})"

    def type_for(self, kind: str, *, key: bool) -> str | None:
        """The type of a new column."""
        return type_for(kind, key=key)

    def unique(self, session: Session, relation: Relation) -> list[frozenset[str]]:
        """Of indexes over whole columns."""
        found = session.rows(
            "SELECT group_concat(column_name SEPARATOR '\n') FROM information_schema.statistics "
            "WHERE table_schema = coalesce(%s, database()) AND table_name = %s AND non_unique = 0 "
            "GROUP BY index_name HAVING count(sub_part) = 0",
            relation.schema,
            relation.table,
        )
        return [frozenset(names.split("\n")) for (names,) in found]

    def drop_empty(self, session: Session, relation: Relation) -> None:
        """Drop a table, unless somebody has put rows into it."""
        name = self.spelled(relation)
        session.run(f"LOCK TABLES {name} WRITE")
        try:
            if not session.rows(f"SELECT 1 FROM {name} LIMIT 1"):
                session.run(f"DROP TABLE {name}")
        finally:
            session.run("UNLOCK TABLES")

    def on_conflict(self, keys: Sequence[str], update: Sequence[str]) -> str:
        """What stands behind an INSERT; of a row that only has keys, nothing changes."""
        changes = (f"{self.quoted(name)} = VALUES({self.quoted(name)})" for name in update or keys[:1])
        return f"ON DUPLICATE KEY UPDATE {', '.join(changes)}"


MYSQL = MySql()
_SSL = {
    "disable": "disable",
    "prefer": None,
    "require": "trust",
    "verify-ca": "verify-ca",
    "verify-full": "verify-full",
}


def _client_ssl(address: Address) -> dict[str, Any]:
    match address.ssl_mode:
        case None | "prefer":
            return {}
        case "disable":
            return {"ssl_disabled": True}
        case "require":
            return {"ssl": {"check_hostname": False}}
    return {
        "ssl_ca": address.ssl_root_cert,
        "ssl_verify_cert": True,
        "ssl_verify_identity": address.ssl_mode == "verify-full",
    }


def _line(error: Exception) -> str:
    """What the server said, without the number."""
    return " ".join(str(error.args[-1] if error.args else type(error).__name__).split())
