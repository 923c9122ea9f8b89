"""Tables of every make, of which only what is needed is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.reading import copied, extract, made, vacuum
from tests.integration.rows import collected, frame

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

ODD = ["plain", "a b", "50%", "100%25", "x/y", "..", ".", "ünï", "two\nlines", "q?#&=+", ":*\"'\\", None]


def test_mapped_columns_are_read_by_the_names_people_use(spark: SparkSession, tmp_path: Path) -> None:
    table = made(
        spark,
        tmp_path / "mapped",
        "id INT, `a, (b)` STRING, gone INT, s STRUCT<`x y`: INT>",
        "INSERT INTO TABLE_ VALUES (1, 'x', 1, named_struct('x y', 7))",
        "ALTER TABLE TABLE_ RENAME COLUMN `a, (b)` TO `c = d`",
        "ALTER TABLE TABLE_ DROP COLUMN gone",
        "INSERT INTO TABLE_ VALUES (2, 'y', named_struct('x y', 8))",
        properties={"columnMapping.mode": "name"},
    )
    plain = {"type": "select", "parameters": {"columns": ["id", "`c = d` AS name", "s.`x y` AS xy"]}}

    assert extract(spark, table).columns == ["id", "c = d", "s"]
    assert copied(spark, table, tmp_path / "out", plain) == [
        {"id": 1, "name": "x", "xy": 7},
        {"id": 2, "name": "y", "xy": 8},
    ]


def test_rows_behind_deletion_vectors_stay_deleted(spark: SparkSession, tmp_path: Path) -> None:
    table = made(
        spark,
        tmp_path / "vectors",
        "id INT",
        "INSERT INTO TABLE_ SELECT /*+ COALESCE(1) */ id FROM range(10)",
        "DELETE FROM TABLE_ WHERE id % 2 = 0",
        properties={"enableDeletionVectors": "true"},
    )

    assert list(table.glob("deletion_vector_*.bin"))
    assert [row["id"] for row in copied(spark, table, tmp_path / "out")] == [1, 3, 5, 7, 9]
    assert extract(spark, table, versionAsOf=1).count() == 10


def test_partitions_of_any_name_are_read_and_landed_until_vacuum_takes_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = spark.createDataFrame(
        [{"id": number, "part": part} for number, part in enumerate(ODD)], "id INT, part STRING"
    )
    for _ in range(2):
        rows.write.format("delta").mode("overwrite").partitionBy("part").save(str(tmp_path / "odd"))

    landed = copied(spark, tmp_path / "odd", tmp_path / "out", versionAsOf=0)
    vacuum(tmp_path / "odd")

    assert {row["id"]: row["part"] for row in landed} == dict(enumerate(ODD))
    with pytest.raises(ConfigError, match=f"vacuum removed {len(ODD)} of its files"):
        extract(spark, tmp_path / "odd", versionAsOf=0)


@pytest.fixture(scope="module")
def wide(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two partitions of two files each, with one version more than is read."""
    path = tmp_path_factory.mktemp("lake") / "wide"
    for part, first in (("a", 0), ("a", 10), ("b", 20), ("b", 30)):
        rows = [{"id": first + n, "name": f"n{n}", "part": part} for n in range(3)]
        frame(spark, *rows).coalesce(1).write.format("delta").mode("append").partitionBy("part").save(str(path))
    frame(spark, {"id": 99, "name": "late", "part": "a"}).write.format("delta").mode("append").save(str(path))
    return path


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ("part = 'a' AND id >= 10", [10, 11, 12]),
        ("id = 31", [31]),
        ("part = 'b' AND id < 30", [20, 21, 22]),
    ],
)
def test_filters_and_columns_reach_the_scan_of_a_pinned_version(
    spark: SparkSession, wide: Path, condition: str, ids: list[int]
) -> None:
    rows = transformed(spark, wide, condition)

    plan = rows._jdf.queryExecution().executedPlan().toString()
    assert "name" not in plan
    assert "PushedFilters: [IsNotNull(id)" in plan
    assert files_read(rows) == 1
    assert [row["id"] for row in collected(rows)] == ids


def transformed(spark: SparkSession, path: Path, condition: str) -> DataFrame:
    """The rows of version 3 through the transforms of a pipeline."""
    from pydantic import TypeAdapter

    from deltaworks.spark.transforms import AnyTransform

    steps = [
        {"type": "filter", "parameters": {"condition": condition}},
        {"type": "select", "parameters": {"columns": ["id", "part"]}},
    ]
    rows = extract(spark, path, versionAsOf=3)
    for step in steps:
        rows = TypeAdapter(AnyTransform).validate_python(step).apply(rows)
    return rows


def files_read(rows: DataFrame) -> int:
    """How many files the scan opened, by its own count."""
    rows.collect()
    scan = rows._jdf.queryExecution().executedPlan().collectLeaves().head()
    return int(scan.metrics().apply("numFiles").value())
