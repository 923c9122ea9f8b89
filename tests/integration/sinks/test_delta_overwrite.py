"""Replacing rows: all of them, those a condition selects, or the partitions that come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import both, frame
from tests.integration.sinks.loads import landed, load

from deltaworks.lake.log import Log
from deltaworks.lake.table import open_table

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

SCHEMA = "id int, day string"


def rows_of(spark: SparkSession, **days: int) -> Any:
    return frame(spark, *({"id": number, "day": day} for day, number in days.items()), schema=SCHEMA)


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Path:
    landed(load(rows_of(spark, a=1, b=2, c=3), tmp_path / "t", "Append", partitionBy="day"))
    return tmp_path / "t"


def test_a_condition_replaces_only_the_rows_it_selects(spark: SparkSession, table: Path) -> None:
    result = landed(load(rows_of(spark, b=20), table, "Overwrite", replaceWhere="day = 'b'"))

    assert (result.version, result.rows_inserted, result.rows_deleted) == (1, 1, 1)
    assert both(spark, table) == [{"id": 1, "day": "a"}, {"id": 20, "day": "b"}, {"id": 3, "day": "c"}]


def test_a_condition_over_other_columns_rewrites_the_neighbours_as_they_were(
    spark: SparkSession, tmp_path: Path
) -> None:
    landed(load(spark.range(10).selectExpr("id", "1 AS n").coalesce(1), tmp_path / "t", "Append"))

    new = spark.range(5, 8).selectExpr("id", "2 AS n")
    result = landed(load(new, tmp_path / "t", "Overwrite", replaceWhere="id >= 5 AND id < 9"))

    assert (result.rows_inserted, result.rows_deleted) == (3, 4)
    assert both(spark, tmp_path / "t") == [
        *({"id": number, "n": 1} for number in range(5)),
        *({"id": number, "n": 2} for number in range(5, 8)),
        {"id": 9, "n": 1},
    ]


@pytest.mark.parametrize("there", [True, False])
def test_a_row_outside_the_condition_is_refused_before_the_commit(
    spark: SparkSession, tmp_path: Path, there: bool
) -> None:
    if there:
        landed(load(rows_of(spark, a=1, b=2), tmp_path / "t", "Append", partitionBy="day"))

    refused = load(rows_of(spark, b=20, c=30), tmp_path / "t", "Overwrite", replaceWhere="day = 'b'")

    assert "outside replaceWhere" in (refused.error or "")
    assert "day = 'b'" in (refused.error or "")
    if there:
        assert both(spark, tmp_path / "t") == [{"id": 1, "day": "a"}, {"id": 2, "day": "b"}]
    else:
        assert Log(str(tmp_path / "t")).latest() is None


def test_a_condition_that_is_null_for_a_row_does_not_let_it_in(spark: SparkSession, table: Path) -> None:
    rows = frame(spark, {"id": 1, "day": None}, schema=SCHEMA)

    assert "outside replaceWhere" in (load(rows, table, "Overwrite", replaceWhere="day = 'b'").error or "")
    assert open_table(table).version == 0


def test_a_condition_on_a_column_that_is_not_there_is_refused(spark: SparkSession, table: Path) -> None:
    refused = load(rows_of(spark, b=1), table, "Overwrite", replaceWhere="week = 'b'")

    assert "load.replaceWhere: There is no column 'week'." in (refused.error or "")
    assert refused.hint == "Columns there: id, day."


def test_only_the_partitions_that_come_are_replaced(spark: SparkSession, table: Path) -> None:
    result = landed(load(rows_of(spark, b=20, d=40), table, "Overwrite", partitionOverwriteMode="dynamic"))

    assert (result.rows_inserted, result.rows_deleted) == (2, 1)
    assert [row["id"] for row in both(spark, table)] == [1, 20, 3, 40]


@pytest.mark.parametrize("there", [True, False])
def test_partitions_cannot_be_replaced_where_there_are_none(spark: SparkSession, tmp_path: Path, there: bool) -> None:
    if there:
        landed(load(rows_of(spark, a=1), tmp_path / "t", "Append"))

    refused = load(rows_of(spark, a=2), tmp_path / "t", "Overwrite", partitionOverwriteMode="dynamic")

    assert "has no partitions" in (refused.error or "")
    assert "replaceWhere" in (refused.hint or "")


def test_a_session_that_overwrites_partitions_by_itself_does_not_decide(spark: SparkSession, table: Path) -> None:
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        landed(load(rows_of(spark, b=20), table, "Overwrite"))
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")

    assert both(spark, table) == [{"id": 20, "day": "b"}]


def test_properties_history_and_partitioning_survive_an_overwrite(spark: SparkSession, tmp_path: Path) -> None:
    kept: dict[str, Any] = {
        "partitionBy": "day",
        "enableChangeDataFeed": True,
        "tableProperties": {"delta.checkpointInterval": 7},
    }
    landed(load(rows_of(spark, a=1), tmp_path / "t", "Append", **kept))

    landed(load(rows_of(spark, b=2), tmp_path / "t", "Overwrite"))

    table = open_table(tmp_path / "t")
    assert table.partition_columns == ("day",)
    assert table.properties == {"delta.enableChangeDataFeed": "true", "delta.checkpointInterval": "7"}
    assert [commit.version for commit in table.history()] == [1, 0]
    assert open_table(tmp_path / "t", version=0).to_arrow().to_pylist() == [{"id": 1, "day": "a"}]


def test_schema_and_partitioning_change_only_when_asked(spark: SparkSession, tmp_path: Path) -> None:
    properties = {"delta.logRetentionDuration": "interval 60 days"}
    landed(load(rows_of(spark, a=1), tmp_path / "t", "Append", partitionBy="day", tableProperties=properties))
    other = frame(spark, {"id": "one", "week": 7})

    refused = load(other, tmp_path / "t", "Overwrite")
    landed(load(other, tmp_path / "t", "Overwrite", overwriteSchema="true", partitionBy="week"))

    assert "column 'id' is string in the rows and int in the table" in (refused.error or "")
    table = open_table(tmp_path / "t")
    assert [(column.name, column.type) for column in table.columns] == [("id", "string"), ("week", "bigint")]
    assert table.partition_columns == ("week",)
    assert table.properties == properties
    assert both(spark, tmp_path / "t") == [{"id": "one", "week": 7}]


def test_an_overwrite_by_no_rows_leaves_an_empty_table(spark: SparkSession, table: Path) -> None:
    result = landed(load(rows_of(spark, a=1).where("id > 5"), table, "Overwrite"))

    assert (result.rows_inserted, result.rows_deleted, result.version) == (0, 3, 1)
    assert both(spark, table) == []
