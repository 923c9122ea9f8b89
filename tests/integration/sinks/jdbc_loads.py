"""Loads into a database, and what they leave there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import deltaworks

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame
    from tests.servers.database import TestDatabase

    from deltaworks.runs.result import LoadResult


def load(rows: DataFrame, database: TestDatabase, mode: str, *, key: str | None = None, **params: Any) -> LoadResult:
    """Load rows into the table `t`."""
    pipeline_id = "orders" if key else None
    config = database.sink(**{"table": "t", **params})
    return deltaworks.load(rows, config, mode, vault=database.vault(), pipeline_id=pipeline_id, key=key)


def from_table(rows: DataFrame, folder: Path, **parts: Any) -> dict[str, Any]:
    """A pipeline that reads these rows from a Delta table, with the other parts of its file."""
    rows.write.format("delta").save(str(folder / "from"))
    extract = {"sourceType": "DeltaLake", "path": str(folder / "from")}
    return {"pipelineId": "orders", "extract": extract, "writeMode": "Append", **parts}


def landed(result: LoadResult) -> LoadResult:
    assert result.success, f"{result.error} {result.hint}"
    return result


def tables(database: TestDatabase) -> list[str]:
    """All tables there are."""
    schema = "'public'" if database.kind == "PostgreSQL" else "database()"
    found = database.rows(f"SELECT table_name FROM information_schema.tables WHERE table_schema = {schema}")
    return [name for (name,) in found]


def beside(database: TestDatabase) -> list[str]:
    """Tables that a load left beside its target."""
    return [name for name in tables(database) if name.startswith("deltaworks_2")]


THREE: list[dict[str, Any]] = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": None}]
