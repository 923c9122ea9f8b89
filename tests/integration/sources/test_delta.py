from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import collected, frame

import deltaworks
from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def extract(spark: SparkSession, path: Path, **params: Any) -> DataFrame:
    config = {"sourceType": "DeltaLake", "connectionParams": {"path": str(path), **params}}
    return deltaworks.extract(config, spark=spark)


@pytest.fixture(scope="module")
def orders(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three versions: two rows; one updated; a column more."""
    path = tmp_path_factory.mktemp("lake") / "orders"
    sink = {"path": str(path), "enableChangeDataFeed": True}
    for mode, more, rows in (
        ("Append", {}, [{"id": 1, "n": 1}, {"id": 2, "n": 1}]),
        ("Upsert", {"mergeKeys": "id"}, [{"id": 1, "n": 9}]),
        ("Append", {"mergeSchema": True}, [{"id": 3, "n": 3, "new": "x"}]),
    ):
        config = {"sinkType": "DeltaLake", "connectionParams": {**sink, **more}}
        assert deltaworks.load(frame(spark, *rows), config, mode).success
    return path


def test_the_latest_version_is_read_and_stays_that_version(spark: SparkSession, tmp_path: Path) -> None:
    sink = {"sinkType": "DeltaLake", "path": str(tmp_path / "t")}
    deltaworks.load(frame(spark, {"id": 1}), sink, "Append")
    rows = extract(spark, tmp_path / "t")

    deltaworks.load(frame(spark, {"id": 2}), sink, "Append")

    assert collected(rows) == [{"id": 1}]
    assert collected(extract(spark, tmp_path / "t")) == [{"id": 1}, {"id": 2}]


def test_an_earlier_version_is_read_with_its_own_schema(spark: SparkSession, orders: Path) -> None:
    assert collected(extract(spark, orders, versionAsOf="0")) == [{"id": 1, "n": 1}, {"id": 2, "n": 1}]
    assert extract(spark, orders).columns == ["id", "n", "new"]


def test_a_time_means_the_version_of_that_time(spark: SparkSession, orders: Path) -> None:
    times = deltaworks.open_table(orders).log.times()

    rows = extract(spark, orders, timestampAsOf=times[1].isoformat())

    assert collected(rows) == [{"id": 1, "n": 9}, {"id": 2, "n": 1}]


def test_a_change_feed_says_what_changed(spark: SparkSession, orders: Path) -> None:
    rows = extract(spark, orders, readChangeFeed="true", startingVersion=1, endingVersion=1)

    changes = [(row["_change_type"], row["id"], row["n"]) for row in collected(rows)]
    assert sorted(changes) == [("update_postimage", 1, 9), ("update_preimage", 1, 1)]


def test_a_change_feed_without_an_end_goes_to_the_latest_version(spark: SparkSession, orders: Path) -> None:
    rows = extract(spark, orders, readChangeFeed=True, startingVersion=2)

    assert [row["_commit_version"] for row in collected(rows)] == [2]


def test_a_change_feed_may_be_bounded_by_times(spark: SparkSession, orders: Path) -> None:
    times = deltaworks.open_table(orders).log.times()

    rows = extract(
        spark,
        orders,
        readChangeFeed=True,
        startingTimestamp=times[1].isoformat(),
        endingTimestamp=times[1].isoformat(),
    )

    assert {row["_commit_version"] for row in collected(rows)} == {1}


@pytest.mark.parametrize(
    ("params", "error", "hint"),
    [
        ({"versionAsOf": 9}, "Version 9 of", "Versions 0 to 2 do."),
        ({"timestampAsOf": "2001-01-01"}, "has no version for 2001-01-01 00:00:00", "Its versions 0 to 2"),
        ({"readChangeFeed": True, "startingTimestamp": "2999-01-01"}, "has no version for 2999", "Its versions 0 to 2"),
        (
            {"readChangeFeed": True, "startingVersion": 2, "endingTimestamp": "FIRST"},
            "would start at version 2 and end at 0",
            "Version 2 was made at",
        ),
        ({"readChangeFeed": True, "startingVersion": 7}, "has no version 7", "It has versions 0 to 2, made from"),
    ],
)
def test_what_the_table_does_not_have_is_refused_with_what_it_has(
    spark: SparkSession, orders: Path, params: dict[str, Any], error: str, hint: str
) -> None:
    first = deltaworks.open_table(orders).log.times()[0].isoformat()

    with pytest.raises(ConfigError, match=error) as caught:
        extract(spark, orders, **{name: first if value == "FIRST" else value for name, value in params.items()})

    assert hint in caught.value.hint


def test_a_path_that_is_no_table_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is no Delta table at") as caught:
        extract(spark, tmp_path)

    assert "has no _delta_log" in caught.value.hint


def test_a_table_without_a_change_feed_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    deltaworks.load(frame(spark, {"id": 1}), {"sinkType": "DeltaLake", "path": str(tmp_path / "t")}, "Append")

    with pytest.raises(ConfigError, match="keeps no change feed") as caught:
        extract(spark, tmp_path / "t", readChangeFeed=True, startingVersion=0)

    assert "enableChangeDataFeed: true" in caught.value.hint
