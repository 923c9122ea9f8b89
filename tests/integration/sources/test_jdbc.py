"""Rows of a database: which are read, through how many connections, and at which moment."""

from __future__ import annotations

import threading
from datetime import date
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.databases import copied, extract
from tests.integration.rows import both, collected
from tests.integration.shares import ROWS, filled, source_of, span_of
from tests.servers.certificates import new_certificate

import deltaworks
from deltaworks.errors import ConfigError, DeltaworksError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.servers.database import TestDatabase

pytestmark = pytest.mark.usefixtures("elsewhere")


# Which rows


def test_a_table_is_read_whole(spark: SparkSession, database: TestDatabase, tmp_path: Path) -> None:
    database.run("CREATE TABLE t (id int primary key, name varchar(9))", "INSERT INTO t VALUES (1, 'a'), (2, NULL)")

    result = copied(spark, database, tmp_path / "t", table="t")

    assert both(spark, tmp_path / "t") == [{"id": 1, "name": "a"}, {"id": 2, "name": None}]
    assert result.load.rows_read == 2


def test_a_query_may_end_in_a_comment_or_a_semicolon(spark: SparkSession, database: TestDatabase) -> None:
    for end in (";", " -- all", ";  \n", "; -- all;", " /* one */ ; /* ; */"):
        assert collected(extract(spark, database, query=f"SELECT 1 AS a{end}")) == [{"a": 1}]


def test_a_question_mark_in_a_query_is_an_operator(spark: SparkSession, pg: TestDatabase) -> None:
    query = """SELECT '{"a": 1}'::jsonb ? 'a' AS here, '?' AS "who?" -- why?"""
    assert collected(extract(spark, pg, query=query)) == [{"here": True, "who?": "?"}]


def test_a_query_and_a_name_may_stand_beside_the_type(spark: SparkSession, database: TestDatabase) -> None:
    database.run("CREATE TABLE t (id int)", "INSERT INTO t VALUES (1)")
    for beside in ({"query": "SELECT id FROM t"}, {"table": "t"}):
        config = {**database.source(), **beside}
        assert collected(deltaworks.extract(config, spark=spark, vault=database.vault())) == [{"id": 1}]


@pytest.mark.parametrize("how", [{"table": "other.t"}, {"table": "t", "schemaName": "other"}])
def test_a_table_of_another_schema_is_named_with_it(spark: SparkSession, pg: TestDatabase, how: dict[str, str]) -> None:
    pg.run("CREATE SCHEMA other", "CREATE TABLE other.t AS SELECT 1 AS id", "CREATE TABLE t AS SELECT 2 AS id")

    assert collected(extract(spark, pg, **how)) == [{"id": 1}]


def test_names_may_hold_any_sign(spark: SparkSession, database: TestDatabase) -> None:
    quote = '"' if database.kind == "PostgreSQL" else "`"
    names = ["a b", "ü", "select", "it's", f"q{quote}uote", "a-b;--"]
    columns = ", ".join(f"{quote}{name.replace(quote, quote * 2)}{quote} int" for name in names)
    database.run(f"CREATE TABLE {quote}My Table's{quote} ({columns})")
    database.run(f"INSERT INTO {quote}My Table's{quote} VALUES (1, 2, 3, 4, 5, 6)")

    rows = extract(spark, database, table="My Table's").collect()
    assert [row.asDict() for row in rows] == [dict(zip(names, range(1, 7), strict=True))]


def test_a_filter_is_done_by_the_database(spark: SparkSession, database: TestDatabase) -> None:
    database.run("CREATE TABLE t (id int primary key, n int)", "INSERT INTO t VALUES (1, 5), (2, 6)")
    rows = extract(spark, database, table="t").where("n = 6").select("id")

    assert [row["id"] for row in rows.collect()] == [2]
    if database.kind == "PostgreSQL":
        assert "PushedFilters: [*IsNotNull(n), *EqualTo(n,6)]" in rows._jdf.queryExecution().toString()


CONDITIONS: dict[str, Callable[[str], bool]] = {
    "name = 'abc'": lambda name: name == "abc",
    r"name = 'a\\b'": lambda name: name == "a\\b",
    "name < 'B'": lambda name: name < "B",
    "name LIKE 'a%'": lambda name: name.startswith("a"),
    "name IN ('it''s', 'b')": lambda name: name == "it's",
}


def test_a_filter_of_text_means_what_it_means_in_spark(spark: SparkSession, database: TestDatabase) -> None:
    values = ["abc", "ABC", "abc ", "äbc", "a\\b", "B", "it's", "a%b"]
    kinds = {name: f"{kind}(20)" for name, kind in (("v", "varchar"), ("c", "char"))} | {"t": "text"}
    if database.kind == "PostgreSQL":
        kinds = {name: f'{kind} COLLATE "en-x-icu"' for name, kind in kinds.items()} | {"e": "word", "i": "citext"}
        database.run(
            f"CREATE TYPE word AS ENUM ({', '.join(map(quoted, reversed(values)))})", "CREATE EXTENSION citext"
        )
    database.run(f"CREATE TABLE t ({', '.join(map(' '.join, kinds.items()))})")
    for value in map(escaped if database.kind == "MySQL" else quoted, values):
        database.run(f"INSERT INTO t VALUES ({', '.join([value] * len(kinds))})")
    rows = extract(spark, database, table="t")

    for column, (condition, holds) in product(kinds, CONDITIONS.items()):
        there = [value.rstrip() if column == "c" else value for value in values]
        found = [row["name"] for row in rows.selectExpr(f"{column} AS name").where(condition).collect()]
        assert sorted(found) == sorted(filter(holds, there)), (column, condition)


def quoted(text: str) -> str:
    """A text, as SQL."""
    return "'" + text.replace("'", "''") + "'"


def escaped(text: str) -> str:
    """A text as MySQL takes it."""
    return quoted(text.replace("\\", "\\\\"))


def test_every_connection_begins_with_the_statement_that_the_file_has(
    spark: SparkSession, database: TestDatabase
) -> None:
    if database.kind == "PostgreSQL":
        database.run("CREATE SCHEMA other", "CREATE TABLE other.t AS SELECT 1 AS id")
        statement, memory = "SET search_path = other, public; SET work_mem = '5MB'", "current_setting('work_mem')"
    else:
        other = f"`{database.name}-other`"
        database.run(f"CREATE DATABASE {other}", f"CREATE TABLE {other}.t AS SELECT 1 AS id")
        statement, memory = f"USE {other}", "'5MB'"
    query = f"SELECT {memory} AS memory, id FROM t"

    assert collected(extract(spark, database, table="t", sessionInitStatement=statement)) == [{"id": 1}]
    rows = extract(spark, database, query=query, sessionInitStatement=statement)
    assert collected(rows) == [{"memory": "5MB", "id": 1}]


def test_a_query_runs_in_utc_whatever_zone_java_and_the_database_have(
    spark: SparkSession, database: TestDatabase, berlin: None
) -> None:
    if database.kind == "PostgreSQL":
        database.run(f"ALTER DATABASE \"{database.name}\" SET timezone = 'Asia/Tokyo'")
        query = "SELECT (timestamptz '2024-06-01 23:30Z')::date AS day, current_setting('timezone') AS zone"
        assert collected(extract(spark, database, query=query)) == [{"day": date(2024, 6, 1), "zone": "UTC"}]
    else:
        query = "SELECT DATE(FROM_UNIXTIME(1717284600)) AS day"
        assert collected(extract(spark, database, query=query)) == [{"day": date(2024, 6, 1)}]


@pytest.fixture
def berlin(spark: SparkSession) -> Iterator[None]:
    """A JVM whose clock is that of Berlin."""
    zones: Any = spark._jvm.java.util.TimeZone  # type: ignore[union-attr]
    before = zones.getDefault()
    zones.setDefault(zones.getTimeZone("Europe/Berlin"))
    yield
    zones.setDefault(before)


def test_rows_are_fetched_as_many_at_a_time_as_the_file_says(spark: SparkSession, pg: TestDatabase) -> None:
    pg.run("CREATE SEQUENCE made")
    query = "SELECT nextval('made') AS n FROM generate_series(1, 1000)"

    assert extract(spark, pg, query=query, fetchSize=10).take(1)[0]["n"] == 1
    assert pg.rows("SELECT last_value FROM made") == [(10,)]
    extract(spark, pg, query=query).take(1)
    assert pg.rows("SELECT last_value FROM made") == [(1010,)]


def test_rows_cannot_be_fetched_none_at_a_time(spark: SparkSession, pg: TestDatabase) -> None:
    with pytest.raises(ConfigError, match="fetchSize"):
        extract(spark, pg, table="t", fetchSize=0)


def test_a_schema_has_all_its_tables_but_not_those_that_loads_of_ours_make(
    spark: SparkSession, database: TestDatabase
) -> None:
    quote, versioned = ('"', "") if database.kind == "PostgreSQL" else ("`", "WITH SYSTEM VERSIONING")
    ours = ["deltaworks_positions", "deltaworks_20240101T000000-0123abcd"]
    for name in ("deltaworks_20240101", "plain", *ours):
        database.run(f"CREATE TABLE {quote}{name}{quote} (id int)")
    database.run(f"CREATE TABLE versioned (id int primary key) {versioned}", "INSERT INTO versioned VALUES (1)")
    schema = "public" if database.kind == "PostgreSQL" else database.name
    parts = dict(source_of(spark, database, schemaName=schema).parts())

    assert list(parts) == ["deltaworks_20240101", "plain", "versioned"]
    assert collected(extract(spark, database, table="versioned")) == [{"id": 1}]


def test_any_jdbc_url_is_read_through_its_driver(spark: SparkSession, tmp_path: Path) -> None:
    url, driver = f"jdbc:derby:{tmp_path}/derby;create=true", "org.apache.derby.iapi.jdbc.AutoloadedDriver"
    spark.range(3).write.format("jdbc").options(url=url, dbtable="T", driver=driver).save()
    config = {"sourceType": "JDBC", "connectionParams": {"url": url, "driver": driver}}

    found = deltaworks.extract({**config, "table": "T"}, spark=spark)
    assert sorted(row["id"] for row in found.collect()) == [0, 1, 2]
    found = deltaworks.extract({**config, "query": 'SELECT "id" + 1 AS more FROM T'}, spark=spark)
    assert sorted(row["MORE"] for row in found.collect()) == [1, 2, 3]


@pytest.mark.parametrize("scheme", ["postgresql", "mysql", "mariadb"])
def test_a_jdbc_url_of_a_database_we_know_is_read_as_such(
    spark: SparkSession, pg: TestDatabase, my: TestDatabase, scheme: str
) -> None:
    database = pg if scheme == "postgresql" else my
    database.run("CREATE TABLE t (id int, j json)", """INSERT INTO t VALUES (1, '{}')""")
    url = f"jdbc:{scheme}://{database.server.host}:{database.server.port}/{database.name}"
    login = {name: database.credential[name] for name in ("username", "password")}
    config = {"sourceType": "JDBC", "credentialId": "db", "connectionParams": {"url": url, "table": "t"}}

    found = deltaworks.extract(config, spark=spark, vault=deltaworks.MemoryVault({"db": login}))
    assert collected(found) == [{"id": 1, "j": "{}"}]


# At which moment


def test_all_connections_to_postgresql_see_one_moment(spark: SparkSession, pg: TestDatabase, tmp_path: Path) -> None:
    filled(pg, "id int primary key, n int", "n, 0")
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            # Each commit leaves the sum as it was, and moves one row from the first range to the last.
            pg.run(f"UPDATE t SET n = n + 1 WHERE id = 1; UPDATE t SET n = n - 1 WHERE id = {ROWS}")

    changing = threading.Thread(target=change)
    changing.start()
    try:
        copied(spark, pg, tmp_path / "t", table="t")
    finally:
        stop.set()
        changing.join()

    rows = spark.read.format("delta").load(str(tmp_path / "t"))
    assert rows.selectExpr("sum(n)", "count(*)").collect()[0][:] == (0, ROWS)


def test_rows_that_come_after_the_start_are_not_read(spark: SparkSession, pg: TestDatabase) -> None:
    filled(pg, "id int primary key", "n")
    source = source_of(spark, pg, table="t")
    with source.held() as span:
        pg.run("INSERT INTO t VALUES (0, 'late')", "DELETE FROM t WHERE id = 1")
        found = source.read(spark, span)
        assert found.count() == ROWS
        assert found.where("id IN (0, 1)").select("id").collect()[0]["id"] == 1


def test_that_mysql_shows_each_connection_its_own_moment_is_said(spark: SparkSession, my: TestDatabase) -> None:
    filled(my, "id int primary key", "n")

    with span_of(spark, my, table="t") as (_, remarks, _words):
        assert remarks == ["4 connections each see table t at their own moment"]


def test_no_connection_is_left_behind(spark: SparkSession, pg: TestDatabase, tmp_path: Path) -> None:
    filled(pg, "id int primary key", "n")
    copied(spark, pg, tmp_path / "t", table="t")

    assert pg.rows(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'deltaworks'"
    ) == [(0,)]


# Encrypted


def cipher(database: TestDatabase) -> str:
    if database.kind == "PostgreSQL":
        return "SELECT ssl::text AS encrypted FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
    status = "information_schema.session_status WHERE variable_name = 'Ssl_cipher'"
    return f"SELECT IF(variable_value = '', 'false', 'true') AS encrypted FROM {status}"


@pytest.mark.parametrize("mode", ["disable", "require", "verify-ca", "verify-full"])
def test_a_connection_is_encrypted_as_the_file_says(spark: SparkSession, database: TestDatabase, mode: str) -> None:
    trusted = {"sslRootCert": str(database.server.certificate)} if mode.startswith("verify") else {}
    rows = extract(spark, database, query=cipher(database), sslMode=mode, **trusted).collect()

    assert [row["encrypted"] for row in rows] == ["false" if mode == "disable" else "true"]


def test_a_server_that_cannot_prove_itself_is_refused(
    spark: SparkSession, database: TestDatabase, tmp_path: Path
) -> None:
    other = new_certificate(tmp_path).certificate
    with pytest.raises(DeltaworksError, match=f"{database.kind} at .* cannot be reached") as refused:
        extract(spark, database, query="SELECT 1", sslMode="verify-full", sslRootCert=str(other))
    assert refused.value.exit_code == 3
