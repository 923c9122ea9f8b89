"""A table as it was: its rows, its columns, and what vacuum left of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.reading import copied, done, extract, made, vacuum
from tests.integration.rows import collected, frame

import deltaworks
from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Path:
    """One version with two columns."""
    path = tmp_path / "orders"
    frame(spark, {"id": 1, "n": 1}).write.format("delta").save(str(path))
    return path


OLD = [{"id": 1, "n": 1}]
MAP = "ALTER TABLE TABLE_ SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"


@pytest.mark.parametrize(
    ("statements", "now"),
    [
        (["ALTER TABLE TABLE_ ADD COLUMN (new STRING)"], [{"id": 1, "n": 1, "new": None}]),
        ([MAP, "ALTER TABLE TABLE_ DROP COLUMN n"], [{"id": 1}]),
        ([MAP, "ALTER TABLE TABLE_ RENAME COLUMN n TO `a (new) name`"], [{"id": 1, "a (new) name": 1}]),
    ],
    ids=["added", "dropped", "renamed"],
)
def test_an_old_version_has_the_columns_it_had(
    spark: SparkSession, table: Path, statements: list[str], now: list[dict[str, Any]]
) -> None:
    done(spark, table, *statements)

    assert collected(extract(spark, table, versionAsOf=0)) == OLD
    assert collected(extract(spark, table)) == now


def test_an_old_version_has_the_types_it_had(spark: SparkSession, table: Path, tmp_path: Path) -> None:
    rows = frame(spark, {"id": "one"})
    rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(str(table))

    assert copied(spark, table, tmp_path / "before", versionAsOf=0) == OLD
    assert copied(spark, table, tmp_path / "now") == [{"id": "one"}]


def test_a_time_has_the_columns_of_that_time(spark: SparkSession, table: Path, tmp_path: Path) -> None:
    before = deltaworks.open_table(table).log.times()[0]
    done(spark, table, "ALTER TABLE TABLE_ ADD COLUMN (new STRING)")

    assert copied(spark, table, tmp_path / "out", timestampAsOf=before.isoformat()) == OLD


def test_a_version_that_vacuum_removed_is_refused_before_a_row_is_written(
    spark: SparkSession, table: Path, tmp_path: Path
) -> None:
    done(
        spark, table, "INSERT INTO TABLE_ VALUES (2, 2)", "UPDATE TABLE_ SET n = 3", "INSERT INTO TABLE_ VALUES (4, 4)"
    )
    vacuum(table)

    with pytest.raises(ConfigError, match=r"Version 1 of .* can no longer be read: vacuum removed 2 of its") as caught:
        copied(spark, table, tmp_path / "out", versionAsOf=1)

    latest = deltaworks.open_table(table).version
    assert caught.value.hint == f"Versions 2 to {latest} can be read."
    assert not (tmp_path / "out").exists()
    assert len(copied(spark, table, tmp_path / "out", versionAsOf=2)) == 2


def test_what_we_say_can_be_read_after_vacuum_is_what_spark_can_read(spark: SparkSession, tmp_path: Path) -> None:
    path = made(
        spark,
        tmp_path / "orders",
        "id INT",
        "INSERT INTO TABLE_ SELECT /*+ COALESCE(1) */ id FROM range(50)",
        "DELETE FROM TABLE_ WHERE id = 5",
        "DELETE FROM TABLE_ WHERE id = 6",
        properties={"enableDeletionVectors": "true"},
    )
    vacuum_by_spark(spark, path)
    versions = range(deltaworks.open_table(path).version + 1)

    accepted = [version for version in versions if is_accepted(spark, path, version)]

    read = [version for version in versions if is_read(spark, path, version)]
    assert accepted == read
    assert {1, versions[-1]} <= set(read) < set(versions)


def vacuum_by_spark(spark: SparkSession, path: Path) -> None:
    """As delta-rs does not: deletion vectors too."""
    # The second one is how many tasks list the folder, by default ten thousand.
    conf = {
        "spark.databricks.delta.retentionDurationCheck.enabled": "false",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    }
    for name, value in conf.items():
        spark.conf.set(name, value)
    spark.sql(f"VACUUM delta.`{path}` RETAIN 0 HOURS")
    for name in conf:
        spark.conf.unset(name)


def is_accepted(spark: SparkSession, path: Path, version: int) -> bool:
    try:
        return extract(spark, path, versionAsOf=version) is not None
    except ConfigError:
        return False


def is_read(spark: SparkSession, path: Path, version: int) -> bool:
    from py4j.protocol import Py4JJavaError

    try:
        return spark.read.format("delta").option("versionAsOf", version).load(str(path)).collect() is not None
    except Py4JJavaError:
        return False
