"""Loads into a database: appended, replaced, upserted; whole or not at all; once, where they have a key."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import frame, stored

import deltaworks
from deltaworks.errors import DeltaworksError
from deltaworks.lake.commit import Commit, Mark, Position
from deltaworks.lake.mode import WriteMode
from deltaworks.pipeline.around import Around
from deltaworks.pipeline.checking import checked
from deltaworks.pipeline.config import LoadPart
from deltaworks.pipeline.document import Document
from deltaworks.spark.batch import Batch
from deltaworks.spark.databases.base import Session
from deltaworks.spark.sinks.jdbc import JdbcSink

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from tests.servers.database import TestDatabase

    from deltaworks.runs.result import LoadResult


pytestmark = pytest.mark.usefixtures("elsewhere")


def load(rows: DataFrame, database: TestDatabase, mode: str, *, key: str | None = None, **params: Any) -> LoadResult:
    """Load rows into the table `t`."""
    pipeline_id = "orders" if key else None
    config = database.sink(**{"table": "t", **params})
    return deltaworks.load(rows, config, mode, vault=database.vault(), pipeline_id=pipeline_id, key=key)


def landed(result: LoadResult) -> LoadResult:
    assert result.success, f"{result.error} {result.hint}"
    return result


def beside(database: TestDatabase) -> list[str]:
    """Tables that a load left beside its target."""
    where = "table_schema = 'public'" if database.kind == "PostgreSQL" else "table_schema = database()"
    found = database.rows(
        f"SELECT table_name FROM information_schema.tables WHERE {where} AND table_name LIKE 'deltaworks_2%'"
    )
    return [name for (name,) in found]


THREE: list[dict[str, Any]] = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": None}]


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
    uuid = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    rows = frame(spark, {"id": uuid, "j": '{"a": 1}', "m": "sad", "ip": "10.0.0.1", "at": "12:30"})
    landed(load(rows, pg, "Upsert", mergeKeys="id"))

    assert pg.rows("SELECT id::text, j->>'a', m::text, ip::text, at::text FROM t") == [
        (uuid, "1", "sad", "10.0.0.1/32", "12:30:00")
    ]


def test_lists_are_kept(spark: SparkSession, pg: TestDatabase) -> None:
    landed(load(spark.sql("SELECT array(1, NULL) AS n, array('a') AS s"), pg, "Append"))

    assert pg.rows("SELECT * FROM t") == [([1, None], ["a"])]


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


# Whole or not at all


@pytest.mark.parametrize("mode", ["Append", "Overwrite", "Upsert"])
@pytest.mark.parametrize(
    "bad", ["CAST(id AS STRING) || 'too long for it'", "raise_error('the source broke')", "CAST(NULL AS STRING)"]
)
def test_a_load_that_fails_leaves_the_table_as_it_was(
    spark: SparkSession, database: TestDatabase, mode: str, bad: str
) -> None:
    database.run("CREATE TABLE t (id bigint primary key, name varchar(9) NOT NULL)", "INSERT INTO t VALUES (1, 'x')")
    rows = spark.range(100).selectExpr("id", f"IF(id = 77, {bad}, 'fine') AS name")
    result = load(rows, database, mode, **({"mergeKeys": "id"} if mode == "Upsert" else {}))

    assert not result.success
    assert database.rows("SELECT * FROM t") == [(1, "x")]
    assert beside(database) == []


def test_a_load_that_fails_leaves_no_table_where_there_was_none(
    spark: SparkSession, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELTAWORKS_FAILPOINTS", "in_transaction=raise")
    result = load(frame(spark, *THREE), database, "Append")

    assert not result.success
    schema = "public" if database.kind == "PostgreSQL" else database.name
    tables = database.rows(f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{schema}'")
    assert tables == []


def test_a_row_that_breaks_a_rule_of_the_table_fails_the_load_with_its_words(
    spark: SparkSession, database: TestDatabase
) -> None:
    database.run("CREATE TABLE t (id bigint primary key, CHECK (id < 3))")
    result = load(frame(spark, {"id": 1}, {"id": 5}), database, "Append")

    assert "check constraint" in str(result.error) or "CONSTRAINT" in str(result.error)
    assert database.rows("SELECT * FROM t") == []


# Once


@pytest.mark.parametrize("mode", ["Append", "Overwrite", "Upsert"])
def test_the_same_key_lands_once(spark: SparkSession, database: TestDatabase, mode: str) -> None:
    params = {"mergeKeys": "id"} if mode == "Upsert" else {}
    rows = frame(spark, *THREE)
    landed(load(rows, database, mode, key="monday", **params))
    again = landed(load(rows, database, mode, key="monday", **params))

    assert again.already_landed
    assert database.rows("SELECT count(*) FROM t") == [(3,)]
    landed(load(rows, database, "Append" if mode == "Append" else mode, key="tuesday", **params))
    assert database.rows("SELECT count(*) FROM t") == [(6 if mode == "Append" else 3,)]
    assert [app for (app,) in database.rows("SELECT app_id FROM deltaworks_positions ORDER BY 1")] == [
        "deltaworks/orders#monday",
        "deltaworks/orders#tuesday",
    ]


def test_of_two_loads_with_one_key_at_once_one_lands(spark: SparkSession, database: TestDatabase) -> None:
    database.run("CREATE TABLE t (id bigint, name varchar(9))")
    results: list[LoadResult] = []
    both = [
        threading.Thread(target=lambda: results.append(load(frame(spark, *THREE), database, "Append", key="monday")))
        for _ in range(2)
    ]
    for each in both:
        each.start()
    for each in both:
        each.join()

    assert all(landed(result) for result in results)
    assert sorted(result.already_landed for result in results) == [False, True]
    assert database.rows("SELECT count(*) FROM t") == [(3,)]


def test_a_key_that_landed_lands_once_more_where_that_is_asked_for(
    spark: SparkSession, database: TestDatabase, tmp_path: Path
) -> None:
    spark.range(3).write.format("delta").save(str(tmp_path / "from"))
    pipeline = {
        "pipelineId": "orders",
        "extract": {"sourceType": "DeltaLake", "path": str(tmp_path / "from")},
        "load": database.sink(table="t"),
        "writeMode": "Append",
    }
    how: dict[str, Any] = {"spark": spark, "vault": database.vault(), "key": "monday"}
    for again in (False, False, True):
        deltaworks.run(pipeline, again=again, **how)

    assert database.rows("SELECT count(*) FROM t") == [(6,)]


@pytest.mark.parametrize("key", ["monday", None])
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_answer_to_the_commit_that_is_lost_is_looked_up(
    spark: SparkSession, database: TestDatabase, monkeypatch: pytest.MonkeyPatch, key: str | None, when: str
) -> None:
    database.run("CREATE TABLE t (id bigint, name varchar(9))")
    # The connection is cut on the server, as the commit is asked for or right after it was done.
    honest = Session.commit

    def cut(session: Session) -> None:
        if when == "after":
            honest(session)
        end_connections(database)
        if when == "after":
            session.rows("SELECT 1")
        honest(session)

    monkeypatch.setattr(Session, "commit", cut)
    result = load(frame(spark, *THREE), database, "Append", key=key)
    monkeypatch.undo()

    assert result.success is (when == "after")
    assert database.rows("SELECT count(*) FROM t") == [(3 if when == "after" else 0,)]
    assert when == "after" or "broke off" in str(result.error)


def end_connections(database: TestDatabase) -> None:
    """End the connections that are in a transaction on this database."""
    if database.kind == "PostgreSQL":
        database.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'deltaworks'"
        )
        return
    found = database.rows(
        "SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()"
    )
    for (number,) in found:
        database.run(f"KILL {number}")


def test_two_writers_of_the_same_keys_both_land(spark: SparkSession, database: TestDatabase) -> None:
    database.run("CREATE TABLE t (id bigint primary key, n bigint)")
    results: list[LoadResult] = []

    def upsert(number: int) -> None:
        rows = spark.range(500).selectExpr("id", f"CAST({number} AS BIGINT) AS n")
        results.append(load(rows.orderBy("id" if number else "n"), database, "Upsert", mergeKeys="id"))

    writers = [threading.Thread(target=upsert, args=(number,)) for number in range(3)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()

    assert all(landed(result) for result in results)
    assert database.rows("SELECT count(*), count(DISTINCT n) FROM t") == [(500, 1)]


def test_a_task_that_spark_did_twice_is_noticed(
    spark: SparkSession, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, times = JdbcSink.writer, iter([2, 1])

    class Twice:
        """Writes the same tasks as often as it is told."""

        def __init__(self, writer: Any) -> None:
            self.writer = writer

        def mode(self, name: str) -> Twice:
            self.writer = self.writer.mode(name)
            return self

        def save(self) -> None:
            for _ in range(next(times)):
                self.writer.save()

    monkeypatch.setattr(JdbcSink, "writer", lambda sink, rows, table: Twice(write(sink, rows, table)))
    landed(load(frame(spark, *THREE), database, "Append"))

    assert database.rows("SELECT count(*), count(DISTINCT id) FROM t") == [(3, 3)]


def test_what_a_killed_load_left_is_removed_by_a_later_one(spark: SparkSession, database: TestDatabase) -> None:
    quote = '"' if database.kind == "PostgreSQL" else "`"
    old, new = "deltaworks_20200101T000000-0123abcd", "deltaworks_29990101T000000-0123abcd"
    database.run(f"CREATE TABLE {quote}{old}{quote} (id int)", f"CREATE TABLE {quote}{new}{quote} (id int)")
    landed(load(frame(spark, *THREE), database, "Append"))

    assert beside(database) == [new]


# Elsewhere


def test_what_is_not_the_table_can_be_kept_in_another_schema(spark: SparkSession, pg: TestDatabase) -> None:
    pg.run("CREATE SCHEMA shop", "CREATE SCHEMA work", "CREATE TABLE shop.t (id bigint, name text)")
    landed(load(frame(spark, *THREE), pg, "Append", key="monday", table="shop.t", stagingSchema="work"))

    assert pg.rows("SELECT count(*) FROM shop.t") == [(3,)]
    assert pg.rows("SELECT version FROM work.deltaworks_positions") == [(1,)]


def test_rows_that_break_a_rule_are_set_aside_in_a_table_that_the_file_names(
    spark: SparkSession, database: TestDatabase, tmp_path: Path
) -> None:
    spark.range(5).write.format("delta").save(str(tmp_path / "from"))
    pipeline = {
        "pipelineId": "orders",
        "extract": {"sourceType": "DeltaLake", "path": str(tmp_path / "from")},
        "expect": [{"name": "small", "check": "id < 3", "onFailure": "setAside"}],
        "load": database.sink(table="t", asidePath=str(tmp_path / "aside")),
        "writeMode": "Append",
    }
    result = deltaworks.run(pipeline, spark=spark, vault=database.vault())

    assert sorted(database.rows("SELECT * FROM t")) == [(0,), (1,), (2,)]
    assert result.load.rows_set_aside == 2
    assert [row["row"] for row in stored(tmp_path / "aside")] == ['{"id":3}', '{"id":4}']


def test_any_jdbc_url_takes_rows_at_least_once_which_is_said(spark: SparkSession, tmp_path: Path) -> None:
    url, driver = f"jdbc:derby:{tmp_path}/derby;create=true", "org.apache.derby.iapi.jdbc.AutoloadedDriver"
    config = {"sinkType": "JDBC", "table": "T", "connectionParams": {"url": url, "driver": driver}}
    for mode in ("Append", "Append", "Overwrite", "Append"):
        result = landed(deltaworks.load(spark.range(2), config, mode))

    assert "this database takes rows at least once: a load that fails may leave some of them there" in result.notes
    assert spark.read.format("jdbc").options(url=url, dbtable="T", driver=driver).load().count() == 4


# Errors


@pytest.mark.parametrize(
    ("credential", "params", "code"),
    [
        ({"password": "wrong"}, {}, 3),
        ({"host": "nowhere.invalid"}, {}, 3),
        ({}, {"schemaName": "nope"}, 2),
    ],
)
def test_a_place_that_is_not_there_or_lets_nobody_in_is_told(
    spark: SparkSession,
    database: TestDatabase,
    tmp_path: Path,
    credential: dict[str, str],
    params: dict[str, Any],
    code: int,
) -> None:
    spark.range(5).write.format("delta").save(str(tmp_path / "from"))
    pipeline = {
        "pipelineId": "orders",
        "extract": {"sourceType": "DeltaLake", "path": str(tmp_path / "from")},
        "load": database.sink(**{"table": "t", **params}),
        "writeMode": "Append",
    }
    vault = deltaworks.MemoryVault({"db": database.credential | credential})
    with pytest.raises(DeltaworksError) as caught:
        deltaworks.run(pipeline, spark=spark, vault=vault)

    assert (caught.value.exit_code, str(caught.value).startswith("load: ")) == (code, True)


def test_the_position_of_a_batch_is_kept_in_its_transaction(
    spark: SparkSession, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = checked(LoadPart, Document({"load": database.sink(table="t"), "writeMode": "Append"}))
    sink = part.load.located(Around(session=lambda: spark, vault=database.vault()))
    position = Position(source="orders topic", start={"0": 5}, end={"0": 8})
    commit = Commit(
        run_id="20240101T000000-0123abcd", pipeline="orders", position=position, mark=Mark("deltaworks/orders", 7)
    )

    monkeypatch.setenv("DELTAWORKS_FAILPOINTS", "in_transaction=raise")
    with pytest.raises(DeltaworksError, match="in_transaction"):
        sink.write(Batch(rows=frame(spark, *THREE)), WriteMode.APPEND, commit)
    assert database.rows("SELECT count(*) FROM deltaworks_positions") == [(0,)]
    monkeypatch.delenv("DELTAWORKS_FAILPOINTS")
    assert not sink.write(Batch(rows=frame(spark, *THREE)), WriteMode.APPEND, commit).already_landed
    assert sink.write(Batch(rows=frame(spark, *THREE)), WriteMode.APPEND, commit).already_landed

    ((version, run, kept),) = database.rows("SELECT version, run_id, position FROM deltaworks_positions")
    assert (version, run) == (7, "20240101T000000-0123abcd")
    assert json.loads(kept) == {"source": "orders topic", "from": {"0": 5}, "to": {"0": 8}}
    assert database.rows("SELECT count(*) FROM t") == [(3,)]


@pytest.mark.parametrize("mode", ["Append", "Overwrite"])
def test_connections_that_are_lost_while_rows_are_sent_fail_the_load(
    spark: SparkSession, database: TestDatabase, mode: str
) -> None:
    database.run("CREATE TABLE t (id bigint, slept varchar(9))", "INSERT INTO t VALUES (77, 'x')")
    rows = spark.range(0, 400, 1, 2).selectExpr(
        "id", "reflect('java.lang.Thread', 'sleep', CAST(10 AS BIGINT)) AS slept"
    )
    cutting = threading.Timer(1.0, end_connections, [database])
    cutting.start()
    result = load(rows, database, mode, batchSize=10)
    cutting.join()

    assert not result.success
    assert database.server.password not in f"{result.error} {result.hint}"
    assert database.rows("SELECT * FROM t") == [(77, "x")]
    assert beside(database) == []
