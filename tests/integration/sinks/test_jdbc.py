"""Loads into a database: appended, replaced, upserted, each value as it was."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.integration.rows import frame
from tests.integration.sinks.jdbc_loads import THREE, beside, landed, load

import deltaworks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession
    from tests.servers.database import TestDatabase


pytestmark = pytest.mark.usefixtures("elsewhere")


# Modes


def test_rows_are_appended_to_those_there(spark: SparkSession, database: TestDatabase) -> None:
    database.run("CREATE TABLE t (id bigint, name varchar(9), extra int DEFAULT 7)", "INSERT INTO t VALUES (0, 'x', 0)")
    result = landed(load(frame(spark, *THREE), database, "Append"))

    assert sorted(database.rows("SELECT * FROM t")) == [(0, "x", 0), (1, "a", 7), (2, "b", 7), (3, None, 7)]
    assert (result.rows_inserted, result.rows_read, result.rows_written, result.version) == (3, 3, 3, None)
    assert beside(database) == []


@pytest.mark.parametrize("how", [None, "delete"])
def test_rows_replace_those_there(spark: SparkSession, database: TestDatabase, how: str | None) -> None:
    database.run("CREATE TABLE t (id bigint primary key, name varchar(9))", "INSERT INTO t VALUES (1, 'x'), (9, 'y')")
    database.run("CREATE INDEX names ON t (name)")
    result = landed(load(frame(spark, *THREE), database, "Overwrite", **({"overwriteBy": how} if how else {})))

    assert sorted(database.rows("SELECT id FROM t")) == [(1,), (2,), (3,)]
    assert (result.rows_inserted, result.rows_deleted) == (3, 2)


def test_a_table_that_others_refer_to_is_replaced_by_delete(spark: SparkSession, pg: TestDatabase) -> None:
    pg.run(
        "CREATE TABLE t (id bigint primary key)", "CREATE TABLE u (t bigint REFERENCES t)", "INSERT INTO t VALUES (9)"
    )
    rows = frame(spark, {"id": 1})

    refused = load(rows, pg, "Overwrite")
    assert not refused.success
    assert "foreign key" in str(refused.error)
    assert pg.rows("SELECT id FROM t") == [(9,)]
    landed(load(rows, pg, "Overwrite", overwriteBy="delete"))
    assert pg.rows("SELECT id FROM t") == [(1,)]


def test_rows_whose_keys_are_there_become_updates(spark: SparkSession, database: TestDatabase) -> None:
    database.run(
        "CREATE TABLE t (a bigint, b varchar(9), n bigint, kept int, UNIQUE (b, a))",
        "INSERT INTO t VALUES (1, 'x', 1, 5), (1, 'y', 2, 5), (2, 'x', 3, 5)",
    )
    rows = frame(spark, {"a": 1, "b": "x", "n": 10}, {"a": 3, "b": "x", "n": 30})
    result = landed(load(rows, database, "Upsert", mergeKeys=["a", "b"]))

    assert sorted(database.rows("SELECT a, b, n, kept FROM t")) == [
        (1, "x", 10, 5), (1, "y", 2, 5), (2, "x", 3, 5), (3, "x", 30, None),
    ]  # fmt: skip
    assert (result.rows_inserted, result.rows_updated) == (1, 1)


def test_only_the_columns_that_the_file_names_are_updated(spark: SparkSession, database: TestDatabase) -> None:
    database.run("CREATE TABLE t (id bigint primary key, n bigint, m bigint)", "INSERT INTO t VALUES (1, 1, 1)")
    rows = frame(spark, {"id": 1, "n": 2, "m": 2}, {"id": 2, "n": 2, "m": 2})
    landed(load(rows, database, "Upsert", mergeKeys="id", updateColumns=["m"]))

    assert sorted(database.rows("SELECT * FROM t")) == [(1, 1, 2), (2, 2, 2)]


def test_rows_that_only_have_keys_change_nothing_that_is_there(spark: SparkSession, database: TestDatabase) -> None:
    database.run("CREATE TABLE t (id bigint primary key, n bigint)", "INSERT INTO t VALUES (1, 1)")
    result = landed(load(frame(spark, {"id": 1}, {"id": 2}), database, "Upsert", mergeKeys="id"))

    assert sorted(database.rows("SELECT * FROM t"), key=str) == [(1, 1), (2, None)]
    assert (result.rows_inserted, result.rows_updated) == (1, 0)


# Keys


def test_repeated_keys_are_refused_by_name(spark: SparkSession, database: TestDatabase) -> None:
    database.run("CREATE TABLE t (id bigint primary key, n bigint)")
    rows = frame(spark, {"id": 1, "n": 1}, {"id": 1, "n": 2}, {"id": 2, "n": 3})
    result = load(rows, database, "Upsert", mergeKeys="id")

    assert result.error == 'load: 1 key is there more than once: {"id": "1"} 2 times.'
    assert database.rows("SELECT * FROM t") == []


def test_the_newest_of_a_key_is_kept_where_the_file_says_so(spark: SparkSession, database: TestDatabase) -> None:
    rows = frame(spark, {"id": 1, "n": 1}, {"id": 1, "n": 2}, {"id": 2, "n": 3})
    landed(load(rows, database, "Upsert", mergeKeys="id", onDuplicateKeys="keepNewest", orderBy="n"))

    assert sorted(database.rows("SELECT * FROM t")) == [(1, 2), (2, 3)]


def test_null_keys_are_refused(spark: SparkSession, database: TestDatabase) -> None:
    result = load(frame(spark, {"id": 1}, {"id": None}), database, "Upsert", mergeKeys="id")

    assert result.error == "load: 1 row has a null in mergeKeys (id)."


def test_keys_without_a_unique_index_are_refused(spark: SparkSession, database: TestDatabase) -> None:
    database.run("CREATE TABLE t (id bigint, n bigint)", "CREATE INDEX i ON t (id)")
    result = load(frame(spark, {"id": 1, "n": 1}), database, "Upsert", mergeKeys="id")

    assert result.error == "load: table t has no unique index over mergeKeys (id)."
    assert result.hint == "CREATE UNIQUE INDEX ON it (id), or change mergeKeys."


# New tables, and values


def test_a_table_that_is_not_there_is_made_with_a_primary_key(spark: SparkSession, database: TestDatabase) -> None:
    rows = frame(spark, {"id": "a", "n": 1})
    landed(load(rows, database, "Upsert", mergeKeys="id", columnTypes={"n": "smallint"}))
    landed(
        load(
            frame(spark, {"id": "a", "n": 2}).selectExpr("id", "CAST(n AS SMALLINT) n"),
            database,
            "Upsert",
            mergeKeys="id",
        )
    )

    assert database.rows("SELECT * FROM t") == [("a", 2)]
    back = deltaworks.extract(database.source(table="t"), spark=spark, vault=database.vault())
    assert dict(back.dtypes) == {"id": "string", "n": "smallint"}


VALUES = {
    "boolean": "true",
    "tinyint": "-128",
    "smallint": "-32768",
    "int": "2147483647",
    "bigint": "-9223372036854775808",
    "float": "0.5",
    "double": "1e308",
    "decimal(38,10)": "1234567890123456789012345678.1234567890",
    "string": "'a\\\\n\\'ü😀'",
    "date": "DATE'1000-02-03'",
    "timestamp": "TIMESTAMP'2024-03-31 01:30:00.123456Z'",
    "timestamp_ntz": "TIMESTAMP_NTZ'2024-03-31 02:30:00.123456'",
    "binary": "X'00FF'",
}


def test_values_come_back_as_they_went(spark: SparkSession, database: TestDatabase) -> None:
    values = ", ".join(f"CAST({value} AS {kind}) AS `{kind}`" for kind, value in VALUES.items())
    nulls = ", ".join(f"CAST(NULL AS {kind})" for kind in VALUES)
    rows = spark.sql(f"SELECT {values} UNION ALL SELECT {nulls}")
    landed(load(rows, database, "Append"))
    landed(load(rows, database, "Append"))

    back = deltaworks.extract(database.source(table="t"), spark=spark, vault=database.vault())
    widened = {"tinyint": "smallint"} if database.kind == "PostgreSQL" else {}
    assert dict(back.dtypes) == {kind: widened.get(kind, kind) for kind in VALUES}
    assert sorted(map(str, back.collect())) == sorted([*map(str, rows.collect())] * 2)


def test_text_becomes_what_a_column_is_made_for(spark: SparkSession, pg: TestDatabase) -> None:
    pg.run(
        "CREATE TYPE mood AS ENUM ('sad', 'happy')",
        "CREATE TABLE t (id uuid primary key, j jsonb, m mood, ip inet, at time)",
    )
    known = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    rows = frame(spark, {"id": known, "j": '{"a": 1}', "m": "sad", "ip": "10.0.0.1", "at": "12:30"})
    landed(load(rows, pg, "Upsert", mergeKeys="id"))

    assert pg.rows("SELECT id::text, j->>'a', m::text, ip::text, at::text FROM t") == [
        (known, "1", "sad", "10.0.0.1/32", "12:30:00")
    ]


def test_lists_are_kept(spark: SparkSession, pg: TestDatabase) -> None:
    landed(load(spark.sql("SELECT array(1, NULL) AS n, array('a') AS s"), pg, "Append"))

    assert pg.rows("SELECT * FROM t") == [([1, None], ["a"])]


@contextmanager
def zone_of_java(spark: SparkSession, name: str) -> Iterator[None]:
    """Let Java believe that its machine is elsewhere."""
    zones: Any = cast("Any", spark)._jvm.java.util.TimeZone
    before = zones.getDefault()
    zones.setDefault(zones.getTimeZone(name))
    try:
        yield
    finally:
        zones.setDefault(before)


def test_times_are_kept_whatever_zone_java_is_in(spark: SparkSession, database: TestDatabase) -> None:
    times = {"at": "TIMESTAMP'2024-06-01 12:00:00Z'", "clock": "TIMESTAMP_NTZ'2024-03-31 02:30:00'"}
    times |= {"day": "DATE'2024-03-31'"}
    lists = {f"{name}s": f"array({value}, NULL)" for name, value in times.items()}
    values = times | (lists if database.kind == "PostgreSQL" else {})
    rows = spark.sql("SELECT " + ", ".join(f"{value} AS {name}" for name, value in values.items()))
    with zone_of_java(spark, "Europe/Berlin"):
        landed(load(rows, database, "Append"))

    back = deltaworks.extract(database.source(table="t"), spark=spark, vault=database.vault())
    assert back.selectExpr("unix_seconds(at)").collect()[0][0] == 1717243200
    assert back.collect() == rows.collect()


@pytest.mark.parametrize(("digits", "time", "fits"), [(0, "59.9", False), (0, "59", True), (3, "59.999", True)])
def test_a_time_that_is_finer_than_its_column_is_refused_not_cut(
    spark: SparkSession, database: TestDatabase, digits: int, time: str, fits: bool
) -> None:
    plain, zoned = ("timestamp", "timestamptz") if database.kind == "PostgreSQL" else ("datetime", "timestamp")
    database.run(f"CREATE TABLE t (clock {plain}({digits}), at {zoned}({digits}) NULL)")
    rows = spark.sql(f"SELECT TIMESTAMP_NTZ'2024-01-01 23:59:{time}' AS clock, TIMESTAMP'2024-01-01 23:59:{time}Z' at")
    result = load(rows, database, "Append")

    assert database.rows("SELECT count(*) FROM t") == [(int(fits),)]
    said = "load: 1 row has a finer time in 'clock' than the table keeps (0 digits of a second)."
    assert result.error == (None if fits else said)


@pytest.mark.parametrize(
    ("columns", "rows", "error"),
    [
        ("id bigint", {"id": 1, "nope": 1}, "load: The table has no column nope."),
        ("id int", {"id": 1}, "load: Column 'id' is bigint in the rows and int in the table."),
        (
            "id date",
            {"id": datetime(2024, 1, 1, 12, tzinfo=UTC)},
            "load: Column 'id' is timestamp in the rows and date",
        ),
        ("id decimal(9,2)", {"id": Decimal("1.234")}, "load: Column 'id' is decimal(4,3) in the rows and decimal(9,2)"),
    ],
)
def test_rows_that_do_not_fit_are_refused_before_anything_is_written(
    spark: SparkSession, database: TestDatabase, columns: str, rows: dict[str, Any], error: str
) -> None:
    database.run(f"CREATE TABLE t ({columns})")
    result = load(frame(spark, rows), database, "Append")

    assert str(result.error).startswith(error)
    assert database.rows("SELECT count(*) FROM t") == [(0,)]


def test_what_has_no_type_in_a_database_is_refused(spark: SparkSession, database: TestDatabase) -> None:
    result = load(spark.sql("SELECT map('a', 1) AS m"), database, "Append")

    assert result.error == "load: Column 'm' is map<string, int>, which this database has no type for."


def test_names_are_found_whatever_their_case(spark: SparkSession, database: TestDatabase) -> None:
    database.run("CREATE TABLE t (id bigint primary key, n bigint, m bigint)", "INSERT INTO t VALUES (1, 1, 1)")
    rows = frame(spark, {"ID": 1, "N": 2, "M": 2}, {"ID": 2, "N": 2, "M": 2})
    landed(load(rows, database, "Upsert", mergeKeys="ID", updateColumns=["N"]))

    assert sorted(database.rows("SELECT id, n, m FROM t")) == [(1, 2, 1), (2, 2, 2)]


def test_columns_that_differ_only_in_case_are_refused(spark: SparkSession, pg: TestDatabase) -> None:
    pg.run('CREATE TABLE t ("id" bigint, "ID" bigint)')
    result = load(frame(spark, {"id": 1}), pg, "Append")

    assert result.error == "load: The table has two columns 'id' that differ only in case."
