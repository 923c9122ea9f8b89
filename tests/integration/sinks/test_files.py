from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import collected, frame

import deltaworks

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.runs.result import LoadResult


def load(rows: DataFrame, path: Path, mode: str, kind: str = "parquet", **extra: Any) -> LoadResult:
    config = {"sinkType": "File", "connectionParams": {"path": str(path), "format": kind}, **extra}
    return deltaworks.load(rows, config, mode)


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_rows_come_back_from_every_format(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    rows = frame(spark, {"id": 1, "name": "ü, 'x'"}, {"id": 2, "name": "b"})
    options = {"header": True, "inferSchema": True} if kind == "csv" else {}

    result = load(rows, tmp_path / "out", "Append", kind, options=options)

    source = {"sourceType": "File", "path": str(tmp_path / "out"), "connectionParams": {"format": kind}}
    found = deltaworks.extract({**source, "options": options}, spark=spark)
    assert (result.rows_read, result.rows_inserted, result.version) == (2, 2, None)
    assert collected(found) == [{"id": 1, "name": "ü, 'x'"}, {"id": 2, "name": "b"}]


def test_no_rows_at_all_are_a_load_of_none(spark: SparkSession, tmp_path: Path) -> None:
    result = load(frame(spark, {"id": 1}).where("false"), tmp_path / "out", "Append")

    assert (result.success, result.rows_read, result.rows_inserted) == (True, 0, 0)
    assert spark.read.parquet(str(tmp_path / "out")).columns == ["id"]


def test_append_adds_and_overwrite_replaces(spark: SparkSession, tmp_path: Path) -> None:
    load(frame(spark, {"id": 1}), tmp_path / "out", "Append")
    load(frame(spark, {"id": 2}), tmp_path / "out", "Append")
    assert collected(spark.read.parquet(str(tmp_path / "out"))) == [{"id": 1}, {"id": 2}]

    load(frame(spark, {"id": 3}), tmp_path / "out", "Overwrite")

    assert collected(spark.read.parquet(str(tmp_path / "out"))) == [{"id": 3}]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_overwrite_that_fails_leaves_the_old_files(spark: SparkSession, tmp_path: Path) -> None:
    load(frame(spark, {"id": 1}), tmp_path / "out", "Append")

    result = load(frame(spark, {"id": 2}).selectExpr("raise_error('boom') AS id"), tmp_path / "out", "Overwrite")

    assert not result.success
    assert "boom" in (result.error or "")
    assert collected(spark.read.parquet(str(tmp_path / "out"))) == [{"id": 1}]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_with_other_things_in_it_is_not_replaced(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "orders.yaml").write_text("precious")

    result = load(frame(spark, {"id": 1}), tmp_path, "Overwrite")

    assert not result.success
    assert "holds 'orders.yaml'" in (result.error or "")
    assert (tmp_path / "orders.yaml").read_text() == "precious"


def test_a_file_is_not_replaced_by_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("precious")

    result = load(frame(spark, {"id": 1}), tmp_path / "out", "Overwrite")

    assert "is a file, not a folder" in (result.error or "")
    assert (tmp_path / "out").read_text() == "precious"


def test_partition_columns_become_folders(spark: SparkSession, tmp_path: Path) -> None:
    config = {
        "sinkType": "S3",
        "connectionParams": {"path": str(tmp_path / "out"), "format": "parquet", "partitionBy": "day"},
    }

    deltaworks.load(frame(spark, {"id": 1, "day": "mo"}), config, "Append")

    assert (tmp_path / "out" / "day=mo").is_dir()


def test_files_cannot_be_upserted(spark: SparkSession, tmp_path: Path) -> None:
    result = load(frame(spark, {"id": 1}), tmp_path / "out", "Upsert")

    assert (result.success, result.error) == (False, "load: Files cannot be upserted.")
    assert not (tmp_path / "out").exists()
