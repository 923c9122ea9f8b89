"""Batches into a database: each lands once, in one transaction with the position behind it."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.increments import broken_off, changed, following, insert, meanwhile, table
from tests.integration.rows import stored
from tests.integration.sinks.jdbc_loads import beside, cut_connection, tables

import deltaworks
from deltaworks.errors import DeltaworksError
from deltaworks.lake.positions import RecreatedError
from deltaworks.pipeline.incremental import OtherSourceError, RenamedError, TakenOverError
from deltaworks.spark.databases.marks import MarksElsewhereError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.servers.database import TestDatabase
    from tests.servers.topic import TestTopic

    from deltaworks.runs.result import RunResult

pytestmark = pytest.mark.usefixtures("elsewhere")

STEPS = ["before_batch", "before_commit", "in_transaction", "after_commit", "before_cache", "after_batch"]
ONE_EACH = {"PostgreSQL": "Append", "MySQL": "Upsert"}
WHERE = {"Append": {"table": "t"}, "Upsert": {"table": "t", "mergeKeys": "id"}}


class Pipe:
    """A pipeline into the table `t` of a database, from a Delta table whose version N brings the row N."""

    def __init__(self, spark: SparkSession, folder: Path, database: TestDatabase, mode: str = "Append") -> None:
        self.spark, self.database, self.mode = spark, database, mode
        self.source, self.sent = table(spark, folder / "in"), 0

    def send(self, number: int = 1) -> None:
        """Add rows to the source."""
        for _ in range(number):
            self.sent += 1
            insert(self.spark, self.source, f"({self.sent})")

    def run(self, **parts: Any) -> RunResult:
        """Land what is new; `asked` is said to the run, the rest are parts of the file."""
        asked = parts.pop("asked", {})
        found = {
            "pipelineId": "orders",
            "extract": following(self.source),
            "load": self.database.sink(**WHERE[self.mode]),
            "writeMode": self.mode,
            **parts,
        }
        return deltaworks.run(found, spark=self.spark, vault=self.database.vault(), **asked)

    @property
    def whole(self) -> dict[str, Any]:
        """The source, all of it."""
        return {name: value for name, value in following(self.source).items() if name != "incremental"}

    def in_small_batches(self, **parts: Any) -> RunResult:
        """Land what is new, each row in a batch of its own."""
        return self.run(extract=following(self.source, {"maxFilesPerBatch": 1}), **parts)

    @property
    def landed(self) -> int:
        """How many rows are there: the first ones, each of them once, and as many as the position says."""
        number = position(self.database)["to"]["version"] - 1
        assert rows(self.database) == list(range(1, number + 1))
        return int(number)


def rows(database: TestDatabase, name: str = "t") -> list[int]:
    return sorted(number for (number,) in database.rows(f"SELECT id FROM {name}"))


def position(database: TestDatabase, pipeline: str = "orders") -> dict[str, Any]:
    """What the database holds of a pipeline."""
    ((text,),) = database.rows(f"SELECT position FROM deltaworks_positions WHERE app_id = 'deltaworks/{pipeline}'")
    return dict(json.loads(text))


def marks(database: TestDatabase) -> list[tuple[str, int]]:
    return database.rows("SELECT app_id, version FROM deltaworks_positions ORDER BY 1")


# Once


@pytest.mark.parametrize("mode", ["Append", "Upsert"])
def test_batches_land_once_over_several_runs(
    spark: SparkSession, tmp_path: Path, database: TestDatabase, mode: str
) -> None:
    pipe = Pipe(spark, tmp_path, database, mode)
    pipe.send(2)
    first = pipe.run()
    pipe.send(3)
    second = pipe.in_small_batches()
    third = pipe.run()

    assert pipe.landed == 5
    assert [each.load.rows_inserted for each in (first, second, third)] == [2, 3, 0]
    assert [each.load.batches for each in (first, second, third)] == [1, 3, 0]
    assert marks(database) == [("deltaworks/orders", 4)]
    assert position(database)["from"] == {"version": 5, "index": -1, "snapshot": False}
    assert third.standing
    assert (third.standing.batch, third.standing.position, third.standing.end) == (4, "version 6", "version 6")
    assert beside(database) == []


def test_a_run_broken_off_anywhere_loses_and_doubles_nothing(
    spark: SparkSession, tmp_path: Path, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = Pipe(spark, tmp_path, database)
    pipe.send()
    pipe.run()
    for step in STEPS:
        before, landed = pipe.landed, step in {"after_commit", "before_cache", "after_batch"}
        pipe.send()
        with broken_off(monkeypatch, step):
            pipe.run()
        assert (step, pipe.landed) == (step, pipe.sent if landed else before)
        assert beside(database) == []

    pipe.run()

    assert pipe.landed == pipe.sent
    assert pipe.run().load.batches == 0


def test_a_first_run_broken_off_anywhere_leaves_the_beginning_to_the_next(
    spark: SparkSession, tmp_path: Path, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = Pipe(spark, tmp_path, database)
    pipe.send()
    for step in ("before_commit", "in_transaction"):
        with broken_off(monkeypatch, step):
            pipe.run()

    pipe.run()

    assert pipe.landed == 1


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_that_is_cut_at_the_commit_loses_and_doubles_nothing(
    spark: SparkSession, tmp_path: Path, database: TestDatabase, when: str
) -> None:
    pipe = Pipe(spark, tmp_path, database)
    pipe.send()
    pipe.run()
    pipe.send(2)
    with pytest.MonkeyPatch.context() as wire, cut_connection(database, wire, when):
        if when == "before":
            with pytest.raises(DeltaworksError, match="broke off"):
                pipe.in_small_batches()
        else:
            assert pipe.in_small_batches().load.batches == 2
    assert pipe.landed == (1 if when == "before" else 3)

    pipe.run()

    assert pipe.landed == 3


def test_records_of_a_topic_land_once_the_newest_of_a_key_where_they_are_upserted(
    spark: SparkSession, tmp_path: Path, topic: TestTopic, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = Pipe(spark, tmp_path, database, ONE_EACH[database.kind])
    source = {**topic.source(schema="id INT, n INT"), "incremental": True}
    topic.send({"id": 1, "n": 1}, {"id": 1, "n": 2})
    pipe.run(extract=source)
    topic.send({"id": 1, "n": 3}, {"id": 1, "n": 4})
    topic.send({"id": 2, "n": 1}, partition=1)
    for step in ("in_transaction", "after_commit"):
        with broken_off(monkeypatch, step):
            pipe.run(extract=source)

    topic.send({"id": 2, "n": 2}, partition=1)
    last = pipe.run(extract=source)

    every = [(1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2)]
    assert sorted(database.rows("SELECT id, n FROM t")) == (every if pipe.mode == "Append" else [(1, 4), (2, 2)])
    assert (last.load.batches, position(database)["to"]["offsets"]) == (1, {topic.name: {"0": 4, "1": 2}})
    assert pipe.run(extract=source).load.batches == 0


# Two copies


def test_of_two_copies_the_one_that_lost_is_told_and_nothing_is_lost(
    spark: SparkSession, tmp_path: Path, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = Pipe(spark, tmp_path, database)
    others: list[str] = []

    def another() -> None:
        others.append(pipe.in_small_batches().run_id)

    for step in ("before_batch", "before_commit", "before_cache", "after_batch"):
        pipe.send(2)
        meanwhile(monkeypatch, step, another)
        with pytest.raises(TakenOverError, match="of this run did not land") as told:
            pipe.in_small_batches()

        assert others[-1] in str(told.value)
        assert pipe.landed == pipe.sent
    assert pipe.run().load.batches == 0
    assert marks(database) == [("deltaworks/orders", 8)]


def test_a_copy_that_is_overtaken_between_two_batches_of_a_table_doubles_nothing(
    spark: SparkSession, tmp_path: Path, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = Pipe(spark, tmp_path, database)
    database.run("CREATE TABLE sent (id INT PRIMARY KEY)")
    source = {**database.source(table="sent"), "incremental": {"cursorColumn": "id", "maxRowsPerBatch": 1}}
    for first, step in ((1, "before_cache"), (3, "after_batch")):
        database.run(f"INSERT INTO sent VALUES ({first}), ({first + 1})")
        meanwhile(monkeypatch, step, lambda: pipe.run(extract=source))
        with pytest.raises(TakenOverError):
            pipe.run(extract=source)
        assert rows(database) == rows(database, "sent")


@pytest.mark.parametrize("keyed", [False, True])
def test_what_the_copy_that_lost_had_set_aside_goes_with_it(
    spark: SparkSession, tmp_path: Path, pg: TestDatabase, monkeypatch: pytest.MonkeyPatch, keyed: bool
) -> None:
    pipe = Pipe(spark, tmp_path, pg)
    pipe.send(3)
    parts: dict[str, Any] = {
        "load": pg.sink(table="t", asidePath=str(tmp_path / "aside")),
        "expect": [{"name": "small", "check": "id < 3", "onFailure": "setAside"}],
        **({"extract": pipe.whole, "asked": {"key": "monday"}} if keyed else {}),
    }
    others: list[str] = []
    meanwhile(monkeypatch, "before_commit", lambda: others.append(pipe.run(**parts).run_id))

    with nullcontext() if keyed else pytest.raises(TakenOverError):
        assert pipe.run(**parts).load.landed_by == others[0]

    assert rows(pg) == [1, 2]
    assert [(row["run"], row["row"]) for row in stored(tmp_path / "aside")] == [(others[0], '{"id":3}')]


def test_a_full_refresh_that_lost_leaves_what_earlier_batches_had_set_aside(
    spark: SparkSession, tmp_path: Path, pg: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = Pipe(spark, tmp_path, pg)
    parts: dict[str, Any] = {
        "load": pg.sink(table="t", asidePath=str(tmp_path / "aside")),
        "expect": [{"name": "large", "check": "id > 1", "onFailure": "setAside"}],
    }
    pipe.send(2)
    pipe.run(**parts)
    pipe.send()
    meanwhile(monkeypatch, "before_commit", lambda: pipe.run(**parts))

    with pytest.raises(TakenOverError):
        pipe.run(**parts, asked={"full_refresh": True})

    assert [(row["batch"], row["row"]) for row in stored(tmp_path / "aside")] == [(1, '{"id":1}')]


# Changes of a feed


def test_changes_without_deletes_are_upserted_and_a_range_of_them_lands_once_and_moves_no_position(
    spark: SparkSession, tmp_path: Path, pg: TestDatabase
) -> None:
    pipe = Pipe(spark, tmp_path, pg, "Upsert")
    source = table(spark, tmp_path / "feed", "(1, 1), (2, 1), (3, 1)", columns="id INT, n INT", feed=True)
    feed: dict[str, Any] = {
        "extract": following(source, readChangeFeed=True, ignoreDeletes=True),
        "transform": [{"type": "dropColumns", "parameters": {"columns": FEED}}],
    }
    pipe.run(**feed)
    changed(spark, source, "UPDATE it SET n = 2 WHERE id = 1")
    changed(spark, source, "UPDATE it SET n = 3 WHERE id = 1")
    changed(spark, source, "DELETE FROM it WHERE id = 2")
    pipe.run(**feed)
    assert sorted(pg.rows("SELECT id, n FROM t")) == [(1, 3), (2, 1), (3, 1)]
    before = position(pg)

    twice = [pipe.run(**feed, asked={"between": ("2", "2")}) for _ in range(2)]

    assert [each.load.already_landed for each in twice] == [False, True]
    assert sorted(pg.rows("SELECT id, n FROM t")) == [(1, 2), (2, 1), (3, 1)]
    assert position(pg) == before
    assert marks(pg) == [("deltaworks/orders", 2), ("deltaworks/orders#2..2", 1)]
    assert pipe.run(**feed).load.batches == 0


FEED = ["_change_type", "_commit_version", "_commit_timestamp"]


# What is refused


def test_another_source_and_a_new_name_are_refused_and_others_are_left_alone(
    spark: SparkSession, tmp_path: Path, my: TestDatabase
) -> None:
    pipe = Pipe(spark, tmp_path, my)
    pipe.send()
    pipe.run()
    other = table(spark, tmp_path / "other", "(7)")

    with pytest.raises(OtherSourceError, match="its position means nothing there"):
        pipe.run(extract=following(other))
    with pytest.raises(RenamedError) as told:
        pipe.run(pipelineId="renamed")
    assert "state adopt FILE orders" in told.value.hint
    assert pipe.landed == 1

    pipe.run(pipelineId="more", extract=following(other))
    pipe.run(load=my.sink(table="u"))
    pipe.run(pipelineId="sales", load=my.sink(table="v"))
    pipe.send()
    pipe.run()
    insert(spark, other, "(8)")
    pipe.run(pipelineId="more", extract=following(other))

    assert rows(my) == [1, 2, 7, 8]
    assert (rows(my, "u"), rows(my, "v")) == ([1], [1])
    pipe.run(load=my.sink(table="u"))
    assert rows(my, "u") == [1, 2]
    assert marks(my) == [
        ("deltaworks/more", 2),
        ("deltaworks/orders", 2),
        ("deltaworks/orders", 2),
        ("deltaworks/sales", 1),
    ]


@pytest.mark.parametrize("made_anew", [True, False])
def test_a_table_that_was_dropped_is_refused_until_a_full_refresh(
    spark: SparkSession, tmp_path: Path, pg: TestDatabase, made_anew: bool
) -> None:
    pipe = Pipe(spark, tmp_path, pg)
    pipe.send(2)
    pipe.run()
    pg.run("DROP TABLE t", *(["CREATE TABLE t (id INT)"] if made_anew else []))
    pipe.send()

    with pytest.raises(RecreatedError, match="dropped, replaced or made anew"):
        pipe.run()

    pipe.run(asked={"full_refresh": True})
    pipe.send()
    pipe.run()
    assert pipe.landed == 4
    assert marks(pg) == [("deltaworks/orders", 3)]


def test_a_table_that_was_dropped_is_refused_by_mysql_too(
    spark: SparkSession, tmp_path: Path, my: TestDatabase
) -> None:
    pipe = Pipe(spark, tmp_path, my)
    pipe.send()
    pipe.run()
    my.run("DROP TABLE t")

    with pytest.raises(RecreatedError):
        pipe.run()


@pytest.mark.parametrize("step", ["before_batch", "before_commit"])
@pytest.mark.parametrize("made_anew", [True, False])
def test_a_table_that_is_dropped_while_a_batch_is_on_its_way_is_refused(
    spark: SparkSession, tmp_path: Path, pg: TestDatabase, monkeypatch: pytest.MonkeyPatch, made_anew: bool, step: str
) -> None:
    pipe = Pipe(spark, tmp_path, pg)
    pipe.send(2)
    pipe.run()
    pipe.send()
    before, anew = position(pg), ["CREATE TABLE t (id INT)"] if made_anew else []
    meanwhile(monkeypatch, step, lambda: pg.run("DROP TABLE t", *anew))

    with pytest.raises(RecreatedError, match="dropped, replaced or made anew"):
        pipe.run()

    assert (position(pg), beside(pg)) == (before, [])
    assert rows(pg) == [] if made_anew else "t" not in tables(pg)
    pipe.run(asked={"full_refresh": True})
    assert pipe.landed == 3


def test_a_table_that_is_dropped_while_a_batch_is_on_its_way_is_refused_by_mysql_too(
    spark: SparkSession, tmp_path: Path, my: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = Pipe(spark, tmp_path, my)
    pipe.send()
    pipe.run()
    pipe.send()
    meanwhile(monkeypatch, "before_commit", lambda: my.run("DROP TABLE t"))

    with pytest.raises(RecreatedError):
        pipe.run()

    assert "t" not in tables(my)


def test_another_staging_schema_is_refused_until_the_positions_are_there_too(
    spark: SparkSession, tmp_path: Path, database: TestDatabase
) -> None:
    pipe, work = Pipe(spark, tmp_path, database), f"{database.name}_work".replace("-", "_")
    elsewhere: dict[str, Any] = {"load": database.sink(table="t", stagingSchema=work)}
    database.run(f"CREATE SCHEMA {work}")
    pipe.send()
    pipe.run()
    pipe.send()

    own = "public" if database.kind == "PostgreSQL" else database.name
    for asked in ({}, {"full_refresh": True}):
        with pytest.raises(MarksElsewhereError, match=f"is kept in {own}.deltaworks_positions") as told:
            pipe.run(**elsewhere, asked=asked)
    assert f"stagingSchema: {own}" in told.value.hint
    assert rows(database) == [1]

    database.run(f"CREATE TABLE {work}.deltaworks_positions AS SELECT * FROM deltaworks_positions")
    database.run(f"ALTER TABLE {work}.deltaworks_positions ADD PRIMARY KEY (app_id, target)")
    pipe.run(**elsewhere)
    assert rows(database) == [1, 2]


def test_a_key_that_landed_is_found_whatever_the_staging_schema_is(
    spark: SparkSession, tmp_path: Path, pg: TestDatabase
) -> None:
    pipe = Pipe(spark, tmp_path, pg)
    pg.run("CREATE SCHEMA work")
    pipe.send()
    pipe.run(extract=pipe.whole, asked={"key": "monday"}, load=pg.sink(table="t", stagingSchema="work"))

    with pytest.raises(MarksElsewhereError, match=r"is kept in work\.deltaworks_positions, and the file means public"):
        pipe.run(extract=pipe.whole, asked={"key": "monday"})
    pipe.run(extract=pipe.whole, asked={"key": "tuesday"})
    assert rows(pg) == [1, 1]


# All anew


def test_a_full_refresh_puts_all_rows_in_place_in_one_transaction(
    spark: SparkSession, tmp_path: Path, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = Pipe(spark, tmp_path, database, ONE_EACH[database.kind])
    pipe.send(2)
    pipe.run()
    database.run("DELETE FROM t WHERE id = 1", "INSERT INTO t VALUES (9)")
    pipe.send()
    with broken_off(monkeypatch, "in_transaction"):
        pipe.run(asked={"full_refresh": True})
    assert rows(database) == [2, 9]

    result = pipe.run(asked={"full_refresh": True})

    assert pipe.landed == 3
    assert (result.load.rows_deleted, result.load.rows_inserted, result.load.batches) == (2, 3, 1)
    pipe.send()
    assert pipe.run().load.rows_inserted == 1
    assert pipe.landed == 4


def test_of_a_full_refresh_and_a_run_under_way_the_latter_is_told(
    spark: SparkSession, tmp_path: Path, pg: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = Pipe(spark, tmp_path, pg)
    pipe.send()
    pipe.run()
    pipe.send()
    meanwhile(monkeypatch, "before_commit", lambda: pipe.run(asked={"full_refresh": True}))

    with pytest.raises(TakenOverError):
        pipe.run()

    assert pipe.landed == 2
