"""After a load: compaction, Z-order and vacuum as steps of the run with results of their own."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import deltaworks
from deltaworks.errors import DeltaworksError
from deltaworks.lake.log import Log
from deltaworks.lake.table import open_table
from tests.integration.rows import both

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def source(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spark.range(0, 40, 1, 4).selectExpr("id", "id % 7 AS n").write.parquet(str(tmp_path / "in"))


def config(mode: str = "Append", *, after: dict[str, Any] | None = None, **load: Any) -> dict[str, Any]:
    return {
        "pipelineId": "kept",
        "extract": {"sourceType": "File", "connectionParams": {"format": "parquet", "path": "in"}},
        "load": {"sinkType": "DeltaLake", "connectionParams": {"path": "t", **load}, "after": after or {}},
        "writeMode": mode,
    }


def test_many_files_become_one_in_a_commit_without_our_mark(spark: SparkSession, tmp_path: Path) -> None:
    result = deltaworks.run(config(after={"optimize": True}), spark=spark, key="k")

    (step,) = result.after
    assert (step.name, step.success, step.version) == ("optimize", True, 1)
    assert (step.files_removed, step.files_added) == (result.load.files_added, 1)
    assert step.bytes_added > 0
    commit = open_table(tmp_path / "t").log.commit(1)
    assert (commit.operation, commit.ours, commit.marks) == ("OPTIMIZE", None, ())
    assert len(both(spark, tmp_path / "t")) == 40
    record = json.loads((Path(result.record) / "manifest.json").read_text())
    assert [step["name"] for step in record["after"]] == ["optimize"]
    again = deltaworks.run(config(after={"optimize": True}), spark=spark, key="k")
    assert (again.load.already_landed, again.after) == (True, ())


def test_rows_are_put_in_z_order(spark: SparkSession, tmp_path: Path) -> None:
    result = deltaworks.run(config(zOrderColumns='["n", "id"]'), spark=spark)

    assert [(step.name, step.success) for step in result.after] == [("zOrder", True)]
    assert open_table(tmp_path / "t").log.commit(1).parameters["zOrderBy"] == '["n","id"]'


def test_nothing_to_compact_is_no_failure_and_no_commit(spark: SparkSession, tmp_path: Path) -> None:
    deltaworks.run(config(after={"optimize": True}), spark=spark)
    spark.range(0).selectExpr("id", "id AS n").write.mode("overwrite").parquet(str(tmp_path / "in"))

    result = deltaworks.run(config(after={"optimize": True}), spark=spark)

    assert [(step.success, step.version) for step in result.after] == [(True, None)]


def test_files_of_old_versions_are_removed_when_they_are_old_enough(spark: SparkSession, tmp_path: Path) -> None:
    properties = {"delta.deletedFileRetentionDuration": "interval 0 hours"}
    deltaworks.run(config(tableProperties=properties), spark=spark)
    old = list((tmp_path / "t").glob("*.parquet"))
    yesterday = time.time() - 86_400
    for file in old:
        os.utime(file, (yesterday, yesterday))

    result = deltaworks.run(config("Overwrite", vacuumRetentionHours="0"), spark=spark)

    (step,) = result.after
    assert (step.name, step.success, step.files_removed) == ("vacuum", True, len(old))
    assert step.bytes_removed > 0
    assert not any(file.exists() for file in old)
    assert len(both(spark, tmp_path / "t")) == 40


def test_a_retention_that_is_not_safe_is_refused_before_the_load(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(DeltaworksError, match="vacuumRetentionHours is 1, but files are kept for 168 hours") as caught:
        deltaworks.run(config(after={"vacuumRetentionHours": 1}), spark=spark)

    assert caught.value.exit_code == 4
    assert Log(str(tmp_path / "t")).latest() is None


@pytest.mark.parametrize(
    ("load", "said"),
    [
        ({"zOrderColumns": "x"}, "load.zOrderColumns: There is no column 'x'."),
        ({"zOrderColumns": "n", "partitionBy": "n"}, "'n' is a partition column"),
        ({"zOrderColumns": "n", "clusterBy": "id"}, "is clustered"),
    ],
)
def test_an_order_that_cannot_be_is_refused_before_the_load(
    spark: SparkSession, tmp_path: Path, load: dict[str, Any], said: str
) -> None:
    layout = {key: value for key, value in load.items() if key != "zOrderColumns"}
    deltaworks.run(config(**layout), spark=spark)

    with pytest.raises(DeltaworksError, match=said):
        deltaworks.run(config(**load), spark=spark)

    assert open_table(tmp_path / "t").version == 0


def test_a_step_that_fails_is_told_and_the_load_stays_landed(spark: SparkSession, tmp_path: Path) -> None:
    deltaworks.run(config(), spark=spark)
    next((tmp_path / "t").glob("*.parquet")).unlink()  # what a compaction cannot read

    result = deltaworks.run(config(after={"optimize": True, "vacuumRetentionHours": 168}), spark=spark)

    assert (result.success, result.load.rows_inserted, result.load.version) == (True, 40, 1)
    assert [(step.name, step.success) for step in result.after] == [("optimize", False), ("vacuum", True)]
    assert "optimize: " in (result.after[0].error or "")
    assert (result.after[0].hint or "").startswith("The rows have landed")
    assert len(open_table(tmp_path / "t").log.file_changes(1)[0]) == result.load.files_added


def test_the_size_of_files_counts_for_compaction_too(spark: SparkSession, tmp_path: Path) -> None:
    big = spark.range(0, 200_000, 1, 8).selectExpr("id", "uuid() AS n")
    big.write.mode("overwrite").parquet(str(tmp_path / "in"))
    many = {"options": {"maxRecordsPerFile": 5000}}  # about 200 KB each

    def sized(size: str) -> int:
        found = config(after={"optimize": True}, targetFileSize=size, optimizeWrite=False, path=size)
        found["load"] |= many
        deltaworks.run(found, spark=spark)
        return open_table(tmp_path / size).files.count

    assert sized("64MB") == 1
    assert 4 <= sized("1MB") <= 12
