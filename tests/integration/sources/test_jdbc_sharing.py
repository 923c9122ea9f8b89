"""Rows of a database, shared out among connections: each once, and about as many to each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.databases import copied, extract
from tests.integration.shares import FILLED, ROWS, balanced, filled, numbers, shares, span_of

from deltaworks.spark.databases.mysql import MySql

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.servers.database import TestDatabase


pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.mark.parametrize(
    ("columns", "select"),
    [
        ("id int primary key", "n"),
        ("id bigint primary key", "CASE WHEN n % 100 = 0 THEN n * 1000000.0 ELSE n END"),
        ("id int primary key", "n * 1.0 * n / 2000 + n"),
    ],
)
def test_a_primary_key_is_cut_into_parts_of_about_as_many_rows(
    spark: SparkSession, database: TestDatabase, columns: str, select: str
) -> None:
    filled(database, columns, select)

    counts, words = shares(spark, database, table="t")
    assert balanced(counts)
    assert words == f"{database.kind} table t, 4 connections by id"


def test_an_index_is_cut_where_there_is_no_primary_key_and_nulls_are_read_too(
    spark: SparkSession, database: TestDatabase, tmp_path: Path
) -> None:
    filled(database, "at date, n int", f"CASE WHEN n % 5 = 0 THEN NULL ELSE {day(database)} END, n")
    database.run("CREATE INDEX by_day ON t (at)")

    counts, words = shares(spark, database, table="t")
    assert len(counts) == 4
    assert words.endswith("4 connections by at")
    copied(spark, database, tmp_path / "t", table="t")
    rows = spark.read.format("delta").load(str(tmp_path / "t"))
    assert rows.selectExpr("count(*)", "count(DISTINCT n)", "count(at)").collect()[0][:] == (ROWS, ROWS, ROWS * 4 // 5)


def day(database: TestDatabase) -> str:
    """A date made of `n`."""
    pg = database.kind == "PostgreSQL"
    return "date '2000-01-01' + n % 9999" if pg else "date '2000-01-01' + INTERVAL n % 9999 DAY"


def test_a_table_without_any_index_is_shared_out_all_the_same(spark: SparkSession, database: TestDatabase) -> None:
    filled(database, "n int", "n")

    counts, words = shares(spark, database, table="t")
    assert balanced(counts)
    assert words.endswith("by pages" if database.kind == "PostgreSQL" else "by a hash of each row")


@pytest.mark.parametrize("key", [", PRIMARY KEY (n)", ""])
def test_a_partitioned_table_is_shared_out_as_a_whole(spark: SparkSession, pg: TestDatabase, key: str) -> None:
    pg.run(
        f"CREATE TABLE t (n int, filler text{key}) PARTITION BY RANGE (n)",
        f"CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO ({ROWS // 2})",
        f"CREATE TABLE t2 PARTITION OF t FOR VALUES FROM ({ROWS // 2}) TO ({ROWS + 1})",
        f"INSERT INTO t SELECT n, {FILLED} FROM {numbers(pg)}",
    )

    counts, words = shares(spark, pg, table="t")
    assert balanced(counts)
    assert words.endswith("by n" if key else "by a hash of each row")


@pytest.mark.parametrize(("kind", "select"), [("uuid", "md5(n::text)::uuid"), ("text", "'key ' || n")])
def test_a_key_of_any_order_is_cut(spark: SparkSession, pg: TestDatabase, kind: str, select: str) -> None:
    filled(pg, f"id {kind} primary key", select)

    assert balanced(shares(spark, pg, table="t")[0])


def test_there_are_never_more_connections_than_the_file_allows(spark: SparkSession, database: TestDatabase) -> None:
    filled(database, "id int primary key", "n")

    assert balanced(shares(spark, database, table="t", connections=2)[0], parts=2)
    with span_of(spark, database, table="t", connections=1) as (span, remarks, words):
        assert (len(span.selects), remarks, words) == (1, [], f"{database.kind} table t")


def test_a_small_table_is_read_through_one_connection(spark: SparkSession, database: TestDatabase) -> None:
    database.run("CREATE TABLE t (id int primary key)", "INSERT INTO t VALUES (1)")

    with span_of(spark, database, table="t") as (span, remarks, _):
        assert (len(span.selects), remarks) == (1, [])


def test_a_query_is_asked_once_unless_the_file_names_a_column(spark: SparkSession, database: TestDatabase) -> None:
    filled(database, "id int primary key", "n")
    query = "SELECT id, filler FROM t WHERE id > 0"

    with span_of(spark, database, query=query) as (span, remarks, _):
        assert len(span.selects) == 1
        assert remarks == [
            "a query is read through one connection: a query is asked once; partitionColumn would share its rows out"
        ]
    counts, words = shares(spark, database, query=query, partitionColumn="id")
    assert balanced(counts)
    assert words.endswith("4 connections by id")


def test_the_column_that_the_file_names_is_cut(spark: SparkSession, database: TestDatabase) -> None:
    filled(database, "id int primary key, other int", "n, n % 977")

    counts, words = shares(spark, database, table="t", partitionColumn="other")
    assert balanced(counts)
    assert words.endswith("by other")


# By what, where the first index would not do


@pytest.mark.parametrize(
    ("columns", "select", "index"),
    [
        ("a int NOT NULL, n int NOT NULL, PRIMARY KEY (a, n)", "1, n", ""),
        ("a int, n int", "CASE WHEN n % 10 = 0 THEN n END, n", "CREATE INDEX by_a ON t (a)"),
        ("a int, n int", "CASE WHEN n % 3 = 0 THEN n ELSE 1 END, n", "CREATE INDEX by_a ON t (a)"),
    ],
    ids=["one tenant", "nine in ten null", "two in three the same"],
)
def test_an_index_that_would_leave_most_rows_to_one_connection_is_passed_over(
    spark: SparkSession, database: TestDatabase, columns: str, select: str, index: str
) -> None:
    filled(database, columns, select, *filter(None, [index]))

    counts, words = shares(spark, database, table="t")
    assert balanced(counts)
    assert words.endswith("by pages" if database.kind == "PostgreSQL" else "by a hash of each row")
    database.run("CREATE INDEX by_n ON t (n)")
    counts, words = shares(spark, database, table="t")
    assert balanced(counts)
    assert words.endswith("4 connections by n")
    counts, words = shares(spark, database, table="t", partitionColumn="n")
    assert words.endswith("4 connections by n")


def test_the_column_that_the_file_names_is_used_even_where_another_would_be_better(
    spark: SparkSession, database: TestDatabase
) -> None:
    filled(database, "id int PRIMARY KEY, a int", "n, CASE WHEN n % 3 = 0 THEN n ELSE 1 END")
    database.run("CREATE INDEX by_a ON t (a)")

    assert shares(spark, database, table="t", partitionColumn="a")[1].endswith("by a")


@pytest.mark.parametrize(
    ("kind", "select"),
    [
        ("decimal(20,4)", "n * n / 7.0"),
        ("datetime(3)", "'2020-01-01' + INTERVAL n * n / 100 SECOND"),
        ("timestamp", "'2020-01-01' + INTERVAL n MINUTE"),
        ("bigint unsigned", "18446744073709551615 - n"),
        ("date", "'1000-01-01' + INTERVAL n DAY"),
    ],
)
def test_mysql_cuts_every_kind_of_number_and_time_without_reading_rows(
    spark: SparkSession, my: TestDatabase, monkeypatch: pytest.MonkeyPatch, kind: str, select: str
) -> None:
    monkeypatch.delattr(MySql, "_walked")  # which reads them
    filled(my, f"id {kind} NOT NULL PRIMARY KEY", select)

    assert balanced(shares(spark, my, table="t")[0])


def test_dates_are_understood_whatever_style_the_database_has(spark: SparkSession, pg: TestDatabase) -> None:
    days = "ARRAY['2024-01-01', '2024-03-05', '2024-06-02', '2024-07-01']::date[]"
    filled(pg, "at date, n int", f"({days})[1 + (n + 12000) / 33001], n", "CREATE INDEX by_day ON t (at)")
    pg.run(f"ALTER DATABASE \"{pg.name}\" SET datestyle = 'SQL, DMY'")

    with span_of(spark, pg, table="t") as (span, _, _words):
        assert span.by == "at"
    rows = extract(spark, pg, table="t").selectExpr("count(*)", "count(DISTINCT n)", "min(at)").collect()
    assert [*map(str, rows[0])] == [str(ROWS), str(ROWS), "2024-01-01"]


def test_a_column_that_is_called_like_its_table_hides_no_rows(spark: SparkSession, pg: TestDatabase) -> None:
    pg.run(
        "CREATE TABLE t (n int, t text, filler text) PARTITION BY RANGE (n)",
        f"CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO ({ROWS // 2})",
        f"CREATE TABLE t2 PARTITION OF t FOR VALUES FROM ({ROWS // 2}) TO ({ROWS + 1})",
        f"INSERT INTO t SELECT n, CASE WHEN n % 2 = 0 THEN 'x' END, {FILLED} FROM {numbers(pg)}",
    )

    assert balanced(shares(spark, pg, table="t")[0])


@pytest.mark.parametrize("kind", ["int[]", "pair"])
def test_a_key_that_is_a_list_or_a_row_is_passed_over(spark: SparkSession, pg: TestDatabase, kind: str) -> None:
    pg.run("CREATE TYPE pair AS (a int, b int)")
    filled(pg, f"id {kind} primary key", "ARRAY[n]" if kind == "int[]" else "(n, n)::pair")

    counts, words = shares(spark, pg, table="t")
    assert balanced(counts)
    assert words.endswith("by pages")


def test_a_row_too_large_for_the_server_to_put_together_is_read(spark: SparkSession, my: TestDatabase) -> None:
    for name, key in (("keyed", "PRIMARY KEY"), ("keyless", "")):
        my.run(
            f"CREATE TABLE {name} (id varchar(40) {key}, a longblob, b longblob)",
            f"INSERT INTO {name} VALUES ('1', REPEAT('x', 9000000), REPEAT('y', 9000000)), ('2', 'x', 'y')",
            f"ANALYZE TABLE {name}",
        )
        with span_of(spark, my, table=name) as (span, _, _words):
            assert len(span.selects) > 1
        assert extract(spark, my, table=name).count() == 2
