"""Loads into a database that fail, race or are told twice: whole or not at all, and once where they have a key."""

from __future__ import annotations

import json
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.increments import meanwhile
from tests.integration.rows import frame, stored
from tests.integration.sinks.jdbc_loads import (
    THREE,
    beside,
    connections,
    cut_connection,
    end_connections,
    from_table,
    landed,
    load,
    tables,
)

import deltaworks
from deltaworks.errors import DeltaworksError, RefusedError
from deltaworks.lake.commit import Commit, Mark, Position
from deltaworks.lake.mode import WriteMode
from deltaworks.pipeline.around import Around
from deltaworks.pipeline.checking import checked
from deltaworks.pipeline.config import LoadPart
from deltaworks.pipeline.document import Document
from deltaworks.spark.batch import Batch
from deltaworks.spark.sinks.jdbc import JdbcSink

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.servers.database import TestDatabase

    from deltaworks.runs.result import LoadResult
    from deltaworks.spark.sinks import Sink


pytestmark = pytest.mark.usefixtures("elsewhere")


# Whole or not at all


def test_a_table_that_cannot_take_a_failed_load_back_is_refused(spark: SparkSession, my: TestDatabase) -> None:
    my.run("CREATE TABLE t (id bigint, CHECK (id < 3)) ENGINE=MyISAM", "INSERT INTO t VALUES (1)")
    result = load(frame(spark, {"id": 5}), my, "Overwrite")

    assert result.error == "load: table t is kept by MyISAM, which cannot take back what a failed load did."
    assert my.rows("SELECT * FROM t") == [(1,)]


def test_an_overwrite_that_fails_behind_its_delete_leaves_the_rows(spark: SparkSession, database: TestDatabase) -> None:
    database.run("CREATE TABLE t (id bigint, CHECK (id < 3))", "INSERT INTO t VALUES (1)")
    result = load(frame(spark, {"id": 2}, {"id": 5}), database, "Overwrite")

    assert not result.success
    assert database.rows("SELECT * FROM t") == [(1,)]


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
    assert tables(database) == []


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
    landed(load(rows, database, mode, key="tuesday", **params))
    assert database.rows("SELECT count(*) FROM t") == [(6 if mode == "Append" else 3,)]
    assert [app for (app,) in database.rows("SELECT app_id FROM deltaworks_positions ORDER BY 1")] == [
        "deltaworks/orders#monday",
        "deltaworks/orders#tuesday",
    ]


def test_keys_that_differ_only_in_case_or_accent_are_different_keys(
    spark: SparkSession, database: TestDatabase
) -> None:
    for key in ("Monday", "monday", "mönday"):
        landed(load(frame(spark, {"id": 1}), database, "Append", key=key))

    assert database.rows("SELECT count(*) FROM t") == [(3,)]


def test_a_schema_may_have_any_name(spark: SparkSession, database: TestDatabase) -> None:
    name = f"100% {uuid.uuid4().hex[:8]}"
    database.run(f'CREATE SCHEMA "{name}"' if database.kind == "PostgreSQL" else f"CREATE SCHEMA `{name}`")
    results = [load(frame(spark, {"id": 1}), database, "Append", key="monday", schemaName=name) for _ in range(2)]

    assert [landed(result).already_landed for result in results] == [False, True]


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
    pipeline = from_table(spark.range(3), tmp_path, load=database.sink(table="t"))
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
    with cut_connection(database, monkeypatch, when):
        result = load(frame(spark, *THREE), database, "Append", key=key)

    assert result.success is (when == "after")
    assert database.rows("SELECT count(*) FROM t") == [(3 if when == "after" else 0,)]
    assert when == "after" or "broke off" in str(result.error)


def test_a_table_that_was_made_for_a_load_is_gone_when_the_connection_is_lost(
    spark: SparkSession, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cut_connection(database, monkeypatch, "before"):
        result = load(frame(spark, *THREE), database, "Append")

    assert "broke off" in str(result.error)
    assert tables(database) == []


def test_that_nothing_was_written_is_not_said_where_nobody_can_know(
    spark: SparkSession, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.run("CREATE TABLE t (id bigint, name varchar(9))", "INSERT INTO t VALUES (1, 'x')")
    with cut_connection(database, monkeypatch, "after"):
        result = load(frame(spark, *THREE).where("id > 9"), database, "Overwrite")

    assert str(result.error).endswith("Whether the rows have landed cannot be known.")
    assert database.rows("SELECT count(*) FROM t") == [(0,)]


def end_while_rows_are_sent(database: TestDatabase) -> None:
    """End the connections once there are two beside our own, those of Spark's tasks."""
    for _ in range(600):
        if len(connections(database)) >= 3:
            break
        time.sleep(0.05)
    time.sleep(0.3)
    end_connections(database)


def test_each_of_several_tables_has_its_own_marks(
    spark: SparkSession, database: TestDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    database.run("CREATE TABLE one (id bigint)", "CREATE TABLE two (id bigint)")
    database.run("INSERT INTO one VALUES (1)", "INSERT INTO two VALUES (2)")
    config = {
        "pipelineId": "copy",
        "extract": database.source(tables=["one", "two"]),
        "load": database.sink(table="copy_{table}"),
        "writeMode": "Append",
    }

    for _ in range(2):
        deltaworks.run(config, spark=spark, vault=database.vault(), key="monday")

    assert database.rows("SELECT id FROM copy_one") == [(1,)]
    assert database.rows("SELECT id FROM copy_two") == [(2,)]


def test_a_key_whose_table_was_dropped_is_refused_until_it_is_to_land_again(
    spark: SparkSession, database: TestDatabase, tmp_path: Path
) -> None:
    pipeline = from_table(spark.range(2), tmp_path, load=database.sink(table="t"))

    def run(*, again: bool = False) -> bool:
        result = deltaworks.run(pipeline, spark=spark, vault=database.vault(), key="monday", again=again)
        return result.load.already_landed

    run()
    database.run("DROP TABLE t")
    with pytest.raises(RefusedError, match=r"Key 'monday' landed in .*dropped or made anew since") as told:
        run()
    assert told.value.hint == "Run with --again to land it once more."

    assert (run(again=True), run()) == (False, True)
    assert database.rows("SELECT count(*) FROM t") == [(2,)]


def test_a_key_whose_table_was_made_anew_is_refused(spark: SparkSession, pg: TestDatabase) -> None:
    landed(load(frame(spark, *THREE), pg, "Append", key="monday"))
    before = pg.rows("SELECT position FROM deltaworks_positions")
    pg.run("TRUNCATE t")
    assert landed(load(frame(spark, *THREE), pg, "Append", key="monday")).already_landed
    pg.run("DROP TABLE t", "CREATE TABLE t (id bigint, name text)")

    refused = load(frame(spark, *THREE), pg, "Append", key="monday")

    assert "made anew since" in str(refused.error)
    assert pg.rows("SELECT position FROM deltaworks_positions") == before
    pg.run("UPDATE deltaworks_positions SET position = NULL")  # as loads did that noted no table
    assert landed(load(frame(spark, *THREE), pg, "Append", key="monday")).already_landed


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


def test_the_rows_of_a_run_that_has_gone_on_for_weeks_are_not_taken_for_left_ones(
    spark: SparkSession, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = frame(spark, *THREE)
    meanwhile(monkeypatch, "before_commit", lambda: landed(load(rows, database, "Append", table="u")))

    ready(spark, database).write(Batch(rows=rows), WriteMode.APPEND, Commit(run_id="20240101T000000-0123abcd"))

    assert database.rows("SELECT count(*) FROM t") == database.rows("SELECT count(*) FROM u") == [(3,)]


# Elsewhere


def test_what_is_not_the_table_can_be_kept_in_another_schema(spark: SparkSession, pg: TestDatabase) -> None:
    pg.run("CREATE SCHEMA shop", "CREATE SCHEMA work", "CREATE TABLE shop.t (id bigint, name text)")
    landed(load(frame(spark, *THREE), pg, "Append", key="monday", table="shop.t", stagingSchema="work"))

    assert pg.rows("SELECT count(*) FROM shop.t") == [(3,)]
    assert pg.rows("SELECT version FROM work.deltaworks_positions") == [(1,)]


def test_rows_that_break_a_rule_are_set_aside_in_a_table_that_the_file_names(
    spark: SparkSession, database: TestDatabase, tmp_path: Path
) -> None:
    small = {"name": "small", "check": "id < 3", "onFailure": "setAside"}
    sink = database.sink(table="t", asidePath=str(tmp_path / "aside"))
    pipeline = from_table(spark.range(5), tmp_path, load=sink, expect=[small])
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
    pipeline = from_table(spark.range(5), tmp_path, load=database.sink(**{"table": "t", **params}))
    vault = deltaworks.MemoryVault({"db": database.credential | credential})
    with pytest.raises(DeltaworksError) as caught:
        deltaworks.run(pipeline, spark=spark, vault=vault)

    assert (caught.value.exit_code, str(caught.value).startswith("load: ")) == (code, True)


def ready(spark: SparkSession, database: TestDatabase) -> Sink:
    """The sink of the table `t`, about to be written."""
    part = checked(LoadPart, Document({"load": database.sink(table="t"), "writeMode": "Append"}))
    return part.load.located(Around(session=lambda: spark, vault=database.vault()))


def test_the_position_of_a_batch_is_kept_in_its_transaction(
    spark: SparkSession, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = ready(spark, database)
    position = Position(source="orders topic", start={"0": 5}, end={"0": 8})
    commit = Commit(
        run_id="20240101T000000-0123abcd", pipeline="orders", position=position, mark=Mark("deltaworks/orders", 1)
    )

    monkeypatch.setenv("DELTAWORKS_FAILPOINTS", "in_transaction=raise")
    with pytest.raises(DeltaworksError, match="in_transaction"):
        sink.write(Batch(rows=frame(spark, *THREE)), WriteMode.APPEND, commit)
    assert database.rows("SELECT count(*) FROM deltaworks_positions") == [(0,)]
    monkeypatch.delenv("DELTAWORKS_FAILPOINTS")
    assert not sink.write(Batch(rows=frame(spark, *THREE)), WriteMode.APPEND, commit).already_landed
    assert sink.write(Batch(rows=frame(spark, *THREE)), WriteMode.APPEND, commit).already_landed

    ((version, run, kept),) = database.rows("SELECT version, run_id, position FROM deltaworks_positions")
    assert (version, run) == (1, "20240101T000000-0123abcd")
    assert json.loads(kept).items() >= {"source": "orders topic", "from": {"0": 5}, "to": {"0": 8}}.items()
    assert database.rows("SELECT count(*) FROM t") == [(3,)]


@pytest.mark.parametrize("mode", ["Append", "Overwrite", "Upsert"])
def test_connections_that_are_lost_while_rows_are_sent_fail_the_load(
    spark: SparkSession, database: TestDatabase, tmp_path: Path, mode: str
) -> None:
    database.run("CREATE TABLE t (id bigint primary key, slept varchar(9))", "INSERT INTO t VALUES (77, 'x')")
    slowly = "reflect('java.lang.Thread', 'sleep', CAST(10 AS BIGINT))"
    keys = {"mergeKeys": "id"} if mode == "Upsert" else {}
    sleeping = {"type": "withColumn", "parameters": {"name": "slept", "expression": slowly}}
    sink = database.sink(table="t", batchSize=10, **keys)
    pipeline = from_table(spark.range(0, 400, 1, 2), tmp_path, load=sink, transform=[sleeping], writeMode=mode)
    cutting = threading.Thread(target=end_while_rows_are_sent, args=[database])
    cutting.start()
    with pytest.raises(DeltaworksError) as failed:
        deltaworks.run(pipeline, spark=spark, vault=database.vault())
    cutting.join()

    assert failed.value.exit_code == 1
    assert database.server.password not in f"{failed.value} {failed.value.hint}"
    assert database.rows("SELECT * FROM t") == [(77, "x")]
    assert beside(database) == []
