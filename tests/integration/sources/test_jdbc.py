"""Rows of a database: which are read, through how many connections, and at which moment."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from tests.integration.databases import copied, extract
from tests.integration.rows import both, collected
from tests.integration.shares import ROWS, filled, source_of, span_of
from tests.servers.certificates import new_certificate

import deltaworks
from deltaworks.errors import DeltaworksError

if TYPE_CHECKING:
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
    for end in (";", " -- all", ";  \n"):
        assert collected(extract(spark, database, query=f"SELECT 1 AS a{end}")) == [{"a": 1}]


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


def test_a_connection_begins_with_the_statement_that_the_file_has(spark: SparkSession, pg: TestDatabase) -> None:
    query = "SELECT current_setting('extra_float_digits') AS digits, current_setting('work_mem') AS memory"
    rows = extract(spark, pg, query=query, sessionInitStatement="SET work_mem = '5MB'", fetchSize=10)

    assert rows.collect()[0]["memory"] == "5MB"


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
