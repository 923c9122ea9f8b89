"""What changed in a table, as a pipeline lands it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.reading import copied, extract, made, vacuum
from tests.integration.rows import collected, stored

import deltaworks
from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

FEED = {"enableChangeDataFeed": "true"}
INSERTS = [("insert", 1), ("insert", 2), ("insert", 3), ("insert", 4)]
UPDATES = [("update_postimage", 1), ("update_preimage", 1)]


def feed(spark: SparkSession, path: Path, start: int, **params: Any) -> DataFrame:
    return extract(spark, path, readChangeFeed=True, startingVersion=start, **params)


def land(spark: SparkSession, path: Path, target: Path, **params: Any) -> list[dict[str, Any]]:
    # The two engines give Python the same instant in different zones.
    without_time = {"type": "dropColumns", "parameters": {"columns": ["_commit_timestamp"]}}
    return copied(spark, path, target, without_time, readChangeFeed=True, **params)


def changes(rows: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    return sorted((row["_change_type"], row["id"]) for row in rows)


def grown(spark: SparkSession, path: Path) -> Path:
    """A table that got a second column."""
    return made(
        spark,
        path,
        "id INT",
        "INSERT INTO TABLE_ VALUES (1)",
        "ALTER TABLE TABLE_ ADD COLUMN (new STRING)",
        "INSERT INTO TABLE_ VALUES (2, 'x')",
        properties=FEED,
    )


@pytest.fixture(scope="module")
def orders(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Versions 1 to 5: three inserts, an update, a delete, an insert, and a rewrite that changes nothing."""
    return made(
        spark,
        tmp_path_factory.mktemp("lake") / "orders",
        "id INT, n INT",
        "INSERT INTO TABLE_ SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 1), (2, 1), (3, 1)",
        "UPDATE TABLE_ SET n = 9 WHERE id = 1",
        "DELETE FROM TABLE_ WHERE id = 2",
        "INSERT INTO TABLE_ VALUES (4, 1)",
        "OPTIMIZE TABLE_",
        properties=FEED,
    )


@pytest.mark.parametrize(
    ("ignored", "expected"),
    [
        ({}, [("delete", 2), *INSERTS, *UPDATES]),
        ({"ignoreDeletes": True}, [*INSERTS, *UPDATES]),
        ({"ignoreChanges": "true"}, [("delete", 2), *INSERTS]),
        ({"ignoreDeletes": "true", "ignoreChanges": True}, INSERTS),
    ],
)
def test_a_feed_lands_every_kind_of_change_but_those_to_leave_out(
    spark: SparkSession, orders: Path, tmp_path: Path, ignored: dict[str, Any], expected: list[tuple[str, int]]
) -> None:
    rows = land(spark, orders, tmp_path / "out", startingVersion=0, **ignored)

    assert changes(rows) == expected
    assert {(row["id"], row["n"]) for row in rows if row["_change_type"].startswith("update")} <= {(1, 1), (1, 9)}


@pytest.mark.parametrize(
    ("start", "end", "expected"), [(1, 1, {1}), (1, 2, {1, 2}), (2, 3, {2, 3}), (3, None, {3, 4}), (5, 5, set())]
)
def test_a_feed_has_both_its_ends_whether_named_by_version_or_by_time(
    spark: SparkSession, orders: Path, start: int, end: int | None, expected: set[int]
) -> None:
    times = deltaworks.open_table(orders).log.times()
    ending = {} if end is None else {"endingVersion": end}
    until = {} if end is None else {"endingTimestamp": times[end].isoformat()}

    by_version = feed(spark, orders, start, **ending)
    by_time = extract(spark, orders, readChangeFeed=True, startingTimestamp=times[start].isoformat(), **until)

    assert {row["_commit_version"] for row in collected(by_version)} == expected
    assert collected(by_time) == collected(by_version)


def test_spark_and_delta_rs_tell_the_same_changes(spark: SparkSession, orders: Path) -> None:
    table = deltaworks.open_table(orders)

    assert changes(table.changes(0).read_all().to_pylist()) == changes(collected(feed(spark, orders, 0)))


def test_a_table_that_began_to_record_says_since_when(spark: SparkSession, tmp_path: Path) -> None:
    late = made(
        spark,
        tmp_path / "late",
        "id INT",
        "INSERT INTO TABLE_ VALUES (1)",
        "ALTER TABLE TABLE_ SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
        "INSERT INTO TABLE_ VALUES (2)",
    )

    with pytest.raises(ConfigError, match="has no version 0") as by_version:
        feed(spark, late, 0)
    with pytest.raises(ConfigError, match="has no version 0") as by_time:
        extract(spark, late, readChangeFeed=True, startingTimestamp="2001-01-01")

    assert by_version.value.hint.startswith("It has versions 2 to 3, made from")
    assert by_time.value.hint == by_version.value.hint
    assert changes(collected(feed(spark, late, 2))) == [("insert", 2)]


def test_a_feed_that_vacuum_took_is_refused_before_a_row_is_written(spark: SparkSession, tmp_path: Path) -> None:
    table = made(
        spark,
        tmp_path / "orders",
        "id INT",
        "INSERT INTO TABLE_ SELECT /*+ COALESCE(1) */ * FROM VALUES (1), (2)",
        "DELETE FROM TABLE_ WHERE id = 2",
        "INSERT INTO TABLE_ VALUES (3)",
        properties=FEED,
    )
    vacuum(table)

    with pytest.raises(ConfigError, match="can no longer be read at version 1: vacuum removed its files") as caught:
        land(spark, table, tmp_path / "out", startingVersion=0)

    assert caught.value.hint.startswith("It has versions 2 to")
    assert not (tmp_path / "out").exists()
    assert changes(land(spark, table, tmp_path / "out", startingVersion=2)) == [("delete", 2), ("insert", 3)]


def test_a_feed_has_the_columns_there_were_at_its_end(spark: SparkSession, tmp_path: Path) -> None:
    table = grown(spark, tmp_path / "orders")

    early, all_of_it = feed(spark, table, 1, endingVersion=1), feed(spark, table, 1)

    assert early.columns == ["id", "_change_type", "_commit_version", "_commit_timestamp"]
    assert [(row["id"], row["new"]) for row in collected(all_of_it)] == [(1, None), (2, "x")]


def test_a_feed_of_mapped_columns_has_the_names_of_its_end(spark: SparkSession, tmp_path: Path) -> None:
    table = made(
        spark,
        tmp_path / "orders",
        "id INT, `a name` STRING",
        "INSERT INTO TABLE_ VALUES (1, 'x')",
        "ALTER TABLE TABLE_ RENAME COLUMN `a name` TO `other name`",
        "UPDATE TABLE_ SET `other name` = 'y'",
        properties=FEED | {"columnMapping.mode": "name"},
    )

    before, after = feed(spark, table, 0, endingVersion=1), feed(spark, table, 2)

    assert [row["a name"] for row in collected(before)] == ["x"]
    assert sorted(row["other name"] for row in collected(after)) == ["x", "y"]
    with pytest.raises(ConfigError, match=r"at version 0: column 'a name' was renamed, dropped or") as caught:
        feed(spark, table, 0)
    assert caught.value.hint == "Versions 2 to 3 can be read."


def test_a_feed_from_before_a_column_had_another_type_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    table = grown(spark, tmp_path / "orders")
    rows = spark.range(1).selectExpr("string(id) AS id")
    rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(str(table))
    rows.write.format("delta").mode("append").save(str(table))

    for start in (1, 4):
        with pytest.raises(ConfigError, match=f"at version {start}: column 'id' was renamed, dropped or") as caught:
            feed(spark, table, start)
        assert caught.value.hint == "Version 5 can be read."
    assert changes(collected(feed(spark, table, 5))) == [("insert", "0")]


def test_a_feed_of_a_table_with_deletion_vectors_tells_each_row_once(spark: SparkSession, tmp_path: Path) -> None:
    table = made(
        spark,
        tmp_path / "orders",
        "id INT, n INT",
        "INSERT INTO TABLE_ SELECT /*+ COALESCE(1) */ id, 1 FROM range(100)",
        "DELETE FROM TABLE_ WHERE id = 5",
        "DELETE FROM TABLE_ WHERE id = 6",
        "UPDATE TABLE_ SET n = 2 WHERE id = 7",
        properties=FEED | {"enableDeletionVectors": "true"},
    )

    rows = collected(feed(spark, table, 2))

    assert changes(rows) == [("delete", 5), ("delete", 6), ("update_postimage", 7), ("update_preimage", 7)]


def upserting(folder: Path, *steps: dict[str, Any]) -> dict[str, Any]:
    """A pipeline from the feed of one table into another."""
    feed = {"path": str(folder / "from"), "readChangeFeed": True, "startingVersion": 0}
    return {
        "pipelineId": "copy",
        "extract": {"sourceType": "DeltaLake", "connectionParams": feed},
        "transform": list(steps),
        "load": {"sinkType": "DeltaLake", "connectionParams": {"path": str(folder / "to"), "mergeKeys": "id"}},
        "writeMode": "Upsert",
    }


@pytest.mark.parametrize("steps", [[], [{"type": "select", "parameters": {"columns": ["id", "n", "_change_type"]}}]])
def test_an_upsert_of_a_feed_applies_the_newest_change_of_each_key(
    spark: SparkSession, tmp_path: Path, steps: list[dict[str, Any]]
) -> None:
    made(
        spark,
        tmp_path / "from",
        "id INT, n INT",
        "INSERT INTO TABLE_ VALUES (1, 1), (2, 1)",
        "UPDATE TABLE_ SET n = 2 WHERE id = 1",
        "UPDATE TABLE_ SET n = 3 WHERE id = 1",
        "DELETE FROM TABLE_ WHERE id = 2",
        properties=FEED,
    )
    pipeline = upserting(tmp_path, *steps)
    result = deltaworks.run(pipeline, spark=spark)

    assert stored(tmp_path / "to") == [{"id": 1, "n": 3}]
    assert result.load.rows_superseded == 5


def test_an_upsert_of_a_feed_that_no_longer_tells_what_is_gone_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    made(
        spark,
        tmp_path / "from",
        "id INT, n INT",
        "INSERT INTO TABLE_ VALUES (1, 1)",
        "UPDATE TABLE_ SET n = 2",
        properties=FEED,
    )
    pipeline = upserting(tmp_path, {"type": "sql", "parameters": {"query": "SELECT id, n FROM input"}})
    with pytest.raises(ConfigError, match="nobody can tell any more which rows of the feed were deleted"):
        deltaworks.run(pipeline, spark=spark)
