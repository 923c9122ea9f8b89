"""Pipelines between a database and a Delta table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import deltaworks

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.runs.result import RunResult
    from tests.servers.database import TestDatabase


def extract(spark: SparkSession, database: TestDatabase, **parameters: Any) -> DataFrame:
    """The rows of a database."""
    return deltaworks.extract(database.source(**parameters), spark=spark, vault=database.vault())


def pipeline(database: TestDatabase, target: Path, *, mode: str = "Append", **parameters: Any) -> dict[str, Any]:
    """A pipeline from a database to a Delta table."""
    return {
        "pipelineId": "from-database",
        "extract": database.source(**parameters),
        "load": {"sinkType": "DeltaLake", "path": str(target)},
        "writeMode": mode,
    }


def copied(spark: SparkSession, database: TestDatabase, target: Path, **parameters: Any) -> RunResult:
    """Run a pipeline from a database to a Delta table."""
    return deltaworks.run(pipeline(database, target, **parameters), spark=spark, vault=database.vault())
