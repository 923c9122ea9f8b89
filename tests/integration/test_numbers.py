"""The numbers of a load agree with the table: each is counted again, for every way to write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from deltaworks.lake.table import open_table
from tests.integration.sinks.loads import landed, load

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from deltaworks.lake.table import Table

LOADS: dict[str, tuple[str, dict[str, Any]]] = {
    "append": ("Append", {}),
    "overwrite": ("Overwrite", {}),
    "replace where, partitions": ("Overwrite", {"replaceWhere": "part IN (1, 2)"}),
    "replace where, other columns": ("Overwrite", {"replaceWhere": "id BETWEEN 50 AND 400 AND part IN (1, 2)"}),
    "dynamic": ("Overwrite", {"partitionOverwriteMode": "dynamic"}),
    "overwrite schema": ("Overwrite", {"overwriteSchema": True}),
    "upsert": ("Upsert", {"mergeKeys": "id"}),
    "upsert, unchecked": ("Upsert", {"mergeKeys": "id", "checks": False}),
    "upsert, conditions": (
        "Upsert",
        {"mergeKeys": ["id", "part"], "updateCondition": "source.n > 5", "deleteCondition": "source.id % 7 = 0"},
    ),
}


@pytest.mark.parametrize("properties", [{}, {"delta.enableDeletionVectors": "true"}], ids=["plain", "vectors"])
@pytest.mark.parametrize("name", LOADS)
def test_the_numbers_of_a_load_agree_with_the_table(
    spark: SparkSession, tmp_path: Path, name: str, properties: dict[str, str]
) -> None:
    mode, params = LOADS[name]
    there = spark.range(0, 300, 1, 3).selectExpr("id", "id % 3 AS part", "1 AS n")
    landed(load(there, tmp_path / "t", "Append", partitionBy="part", tableProperties=properties))
    rows = spark.range(200, 350).selectExpr("id", "1 + id % 2 AS part", "int(id % 11) AS n")
    if "upsert" in name:
        rows = spark.range(200, 350).selectExpr("id", "id % 3 AS part", "int(id % 11) AS n")

    result = landed(load(rows, tmp_path / "t", mode, **params))

    before, after = (rows_of(open_table(tmp_path / "t", version=version)) for version in (0, 1))
    expected = counted(before, after, replaces=mode == "Overwrite", params=params)
    assert (result.rows_inserted, result.rows_updated, result.rows_deleted) == expected
    assert result.rows_read == 150
    commit = open_table(tmp_path / "t").log.commit(1)
    assert (result.files_added, result.files_removed) == (commit.added.count, commit.removed.count)
    assert result.bytes_added == sum(action["add"]["size"] for action in actions(tmp_path) if "add" in action)
    assert result.version == 1


def actions(folder: Path) -> list[dict[str, Any]]:
    return open_table(folder / "t").log.actions(1)


def rows_of(table: Table) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in table.to_arrow().to_pylist():
        found.setdefault(row["id"], []).append((row["part"], row["n"]))
    return found


Row = tuple[int, int]


def counted(
    before: dict[int, list[Row]], after: dict[int, list[Row]], *, replaces: bool, params: dict[str, Any]
) -> tuple[int, int, int]:
    """Rows inserted, updated and deleted, from the rows before and after alone."""
    if replaces:
        gone = sum(selected(key, part, params) for key, rows in before.items() for part, _ in rows)
        return 150, 0, gone
    new = sum(len(rows) - len(before.get(key, [])) for key, rows in after.items())
    gone = sum(len(rows) for key, rows in before.items() if key not in after)
    met = [key for key in before if key in after and 200 <= key < 350]
    updated = [key for key in met if "updateCondition" not in params or key % 11 > 5]
    return new, len(updated) if "mergeKeys" in params else 0, gone


def selected(key: int, part: int, params: dict[str, Any]) -> bool:
    """Whether an overwrite replaces a row that was there."""
    if not params.keys() & {"replaceWhere", "partitionOverwriteMode"}:
        return True
    return part in (1, 2) and ("BETWEEN" not in params.get("replaceWhere", "") or 50 <= key <= 400)
