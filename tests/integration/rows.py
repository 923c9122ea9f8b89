"""Small sets of rows, in and out of Spark and Delta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

import deltaworks

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def frame(spark: SparkSession, *rows: dict[str, Any], schema: str | None = None) -> DataFrame:
    """Rows for Spark."""
    table = pa.Table.from_pylist(list(rows))
    return spark.createDataFrame(table, schema) if schema else spark.createDataFrame(table)


def collected(rows: DataFrame) -> list[dict[str, Any]]:
    """Rows from Spark, in an order that does not depend on it."""
    return sorted((row.asDict() for row in rows.collect()), key=str)


def stored(path: Path | str) -> list[dict[str, Any]]:
    """Rows of a Delta table as delta-rs reads them."""
    found: list[dict[str, Any]] = deltaworks.open_table(path).to_arrow().to_pylist()
    return sorted(found, key=str)


def from_spark(spark: SparkSession, path: Path | str) -> list[dict[str, Any]]:
    """Rows of a Delta table as Spark reads them."""
    found: list[dict[str, Any]] = spark.read.format("delta").load(str(path)).toArrow().to_pylist()
    return sorted(found, key=str)


def both(spark: SparkSession, path: Path | str) -> list[dict[str, Any]]:
    """Rows of a Delta table, the same from both engines."""
    rows = stored(path)
    assert rows == from_spark(spark, path)
    return rows
