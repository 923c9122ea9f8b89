"""A table is made with all that the file says about it."""

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

MODES = [("Append", {}), ("Overwrite", {}), ("Upsert", {"mergeKeys": "id"})]


@pytest.mark.parametrize(("mode", "params"), MODES)
def test_a_table_is_made_with_its_schema_partitions_and_properties_in_one_commit(
    spark: SparkSession, tmp_path: Path, mode: str, params: dict[str, Any]
) -> None:
    rows = frame(spark, {"id": 1, "day": "a"}, schema="id int, day string")

    landed(
        load(
            rows,
            tmp_path / "t",
            mode,
            partitionBy='["day"]',
            enableChangeDataFeed="true",
            dataSkippingNumIndexedCols="5",
            isolationLevel="Serializable",
            tableProperties={"delta.logRetentionDuration": "interval 60 days", "delta.appendOnly": False},
            **params,
        )
    )

    table = open_table(tmp_path / "t")
    assert table.version == 0
    assert table.partition_columns == ("day",)
    assert [(column.name, column.type) for column in table.columns] == [("id", "int"), ("day", "string")]
    assert table.properties == {
        "delta.enableChangeDataFeed": "true",
        "delta.dataSkippingNumIndexedCols": "5",
        "delta.isolationLevel": "Serializable",
        "delta.logRetentionDuration": "interval 60 days",
        "delta.appendOnly": "false",
    }


@pytest.mark.parametrize(("mode", "params"), MODES)
def test_a_clustered_table_is_made_with_its_rows_and_its_mark_in_one_commit(
    spark: SparkSession, tmp_path: Path, mode: str, params: dict[str, Any]
) -> None:
    rows = frame(spark, {"id": 1, "n": 5}, {"id": 2, "n": 6})

    result = landed(load(rows, tmp_path / "t", mode, key="k", clusterBy="n", enableChangeDataFeed=True, **params))
    again = landed(load(rows, tmp_path / "t", mode, key="k", clusterBy="n", **params))

    assert (result.version, result.rows_inserted, again.already_landed) == (0, 2, True)
    detail = spark.sql(f"DESCRIBE DETAIL delta.`{tmp_path}/t`").collect()[0]
    assert detail["clusteringColumns"] == ["n"]
    assert open_table(tmp_path / "t").properties["delta.enableChangeDataFeed"] == "true"
    assert open_table(tmp_path / "t").log.commit(0).ours is not None
    assert both(spark, tmp_path / "t") == [{"id": 1, "n": 5}, {"id": 2, "n": 6}]


def test_rows_go_on_into_a_clustered_table_and_another_clustering_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    landed(load(frame(spark, {"id": 1, "n": 5}), tmp_path / "t", "Append", clusterBy="n"))

    landed(load(frame(spark, {"id": 2, "n": 6}), tmp_path / "t", "Append", clusterBy="n"))
    refused = load(frame(spark, {"id": 3, "n": 7}), tmp_path / "t", "Append", clusterBy="id")

    assert "clusterBy is ['id'], but" in (refused.error or "")
    assert "is clustered by ['n']" in (refused.error or "")
    assert "ALTER TABLE … CLUSTER BY (`id`)" in (refused.hint or "")
    assert both(spark, tmp_path / "t") == [{"id": 1, "n": 5}, {"id": 2, "n": 6}]


@pytest.mark.parametrize(("mode", "params"), MODES)
def test_another_partitioning_is_refused_naming_both_and_what_would_change_it(
    spark: SparkSession, tmp_path: Path, mode: str, params: dict[str, Any]
) -> None:
    rows = frame(spark, {"id": 1, "a": "x", "b": "y"})
    landed(load(rows, tmp_path / "t", "Append", partitionBy="a"))

    refused = load(rows, tmp_path / "t", mode, partitionBy=["b"], **params)

    assert "partitionBy is ['b'], but" in (refused.error or "")
    assert "is partitioned by ['a']" in (refused.error or "")
    assert "overwriteSchema: true" in (refused.hint or "")
    assert open_table(tmp_path / "t").version == 0


def test_properties_of_a_table_that_is_there_stay_and_the_result_says_so(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(frame(spark, {"id": 1}), tmp_path / "t", "Append"))

    result = landed(load(frame(spark, {"id": 2}), tmp_path / "t", "Append", enableChangeDataFeed=True))

    assert result.notes == (
        "delta.enableChangeDataFeed stays as it is: the table was made without true; "
        "ALTER TABLE … SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true') would change it",
    )
    assert "delta.enableChangeDataFeed" not in open_table(tmp_path / "t").properties


def test_an_isolation_that_this_delta_does_not_know_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    refused = load(frame(spark, {"id": 1}), tmp_path / "t", "Append", isolationLevel="WriteSerializable")

    assert "must be Serializable" in (refused.error or "")
    assert Log(str(tmp_path / "t")).latest() is None


def files_of(path: Path) -> int:
    return open_table(path).files.count


def many(spark: SparkSession, parts: int = 12) -> Any:
    return spark.range(0, 1200, 1, parts)


def test_an_optimized_write_makes_fewer_files(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(many(spark), tmp_path / "plain", "Append"))
    landed(load(many(spark), tmp_path / "few", "Append", optimizeWrite="true"))
    landed(load(many(spark), tmp_path / "sized", "Append", targetFileSize="64MB"))

    assert (files_of(tmp_path / "plain"), files_of(tmp_path / "few"), files_of(tmp_path / "sized")) == (12, 1, 1)
    assert spark.conf.get("spark.databricks.delta.optimizeWrite.enabled", None) is None


def test_an_optimized_upsert_makes_fewer_files(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(many(spark), tmp_path / "t", "Append"))

    result = landed(load(many(spark), tmp_path / "t", "Upsert", mergeKeys="id", optimizeWrite=True))

    assert (result.rows_updated, result.files_added) == (1200, 1)


@pytest.mark.parametrize(("mode", "params"), [("Append", {}), ("Upsert", {"mergeKeys": "id"})])
def test_small_files_are_compacted_after_the_load_in_a_commit_of_their_own(
    spark: SparkSession, tmp_path: Path, mode: str, params: dict[str, Any]
) -> None:
    landed(load(many(spark, 60), tmp_path / "t", "Append"))

    result = landed(load(spark.range(5), tmp_path / "t", mode, key="k", autoCompact=True, **params))

    table = open_table(tmp_path / "t")
    assert (result.version, table.version) == (1, 2)
    assert table.log.commit(2).operation == "OPTIMIZE"
    assert table.log.commit(2).marks == ()
    assert table.files.count < 60
    again = landed(load(spark.range(5), tmp_path / "t", mode, key="k", autoCompact=True, **params))
    assert (again.already_landed, again.version) == (True, 1)


def test_files_are_kept_to_the_number_of_rows_an_option_asks_for(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(many(spark, 1), tmp_path / "t", "Append", options={"maxRecordsPerFile": 100}))

    assert files_of(tmp_path / "t") == 12


def test_options_count_when_a_clustered_table_is_made_or_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(many(spark, 1), tmp_path / "t", "Append", clusterBy="id", options={"maxRecordsPerFile": 100}))
    refused = load(many(spark, 1), tmp_path / "u", "Append", clusterBy="id", options={"dataChange": False})

    assert files_of(tmp_path / "t") == 12
    assert open_table(tmp_path / "t").properties == {}
    assert "The option 'datachange' cannot be used while a clustered table is made" in (refused.error or "")
