"""Delta tables made by SQL, read by a source alone or by a whole pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltalake import DeltaTable

import deltaworks
from tests.integration.rows import both

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def extract(spark: SparkSession, path: Path, **params: Any) -> DataFrame:
    """The rows of a Delta source."""
    config = {"sourceType": "DeltaLake", "connectionParams": {"path": str(path), **params}}
    return deltaworks.extract(config, spark=spark)


def copied(
    spark: SparkSession, path: Path, target: Path, *transform: dict[str, Any], **params: Any
) -> list[dict[str, Any]]:
    """Run a pipeline from a Delta source to a new table, and say what both engines find there."""
    pipeline = {
        "pipelineId": "copy",
        "extract": {"sourceType": "DeltaLake", "connectionParams": {"path": str(path), **params}},
        "transform": list(transform),
        "load": {"sinkType": "DeltaLake", "path": str(target)},
        "writeMode": "Overwrite",
    }
    deltaworks.run(pipeline, spark=spark)
    return both(spark, target)


def made(
    spark: SparkSession, path: Path, columns: str, *statements: str, properties: Mapping[str, str] | None = None
) -> Path:
    """A table, and what was done to it; statements call it `TABLE_`."""
    spelled = ", ".join(f"'delta.{name}' = '{text}'" for name, text in (properties or {"appendOnly": "false"}).items())
    return done(spark, path, f"CREATE TABLE TABLE_ ({columns}) USING delta TBLPROPERTIES ({spelled})", *statements)


def done(spark: SparkSession, path: Path, *statements: str) -> Path:
    """The table after statements that call it `TABLE_`."""
    for statement in statements:
        spark.sql(statement.replace("TABLE_", f"delta.`{path}`"))
    return path


def vacuum(path: Path) -> None:
    """Remove every data file the latest version does not need."""
    DeltaTable(path).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
