"""Delta's append with a mark, that looks for the mark where it costs no Spark job."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from delta.exceptions import ConcurrentTransactionException
from deltalake import write_deltalake
from tests.integration.rows import both

import deltaworks
from deltaworks.spark.conf import MARKED_APPEND

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

APPLICATION = "deltaworks/test"
DELTA = "delta"


@pytest.fixture
def marked(spark: SparkSession) -> str:
    """The format's name."""
    return str(spark.conf.get(MARKED_APPEND))


def append(spark: SparkSession, path: Path, number: int, kind: str = DELTA) -> int:
    """Append a row with a mark; says how many Spark jobs that took."""
    before = _jobs(spark)
    mark = {"txnAppId": APPLICATION, "txnVersion": str(number)}
    rows = spark.range(number, number + 1).coalesce(1)
    rows.write.format(kind).mode("append").options(**mark, userMetadata=f"batch {number}").save(str(path))
    return _jobs(spark) - before


def _jobs(spark: SparkSession) -> int:
    return max(spark.sparkContext.statusTracker().getJobIdsForGroup(None), default=-1)


def landed(spark: SparkSession, path: Path) -> list[int]:
    return sorted(row["id"] for row in both(spark, path))


def test_an_append_with_a_mark_writes_its_rows_and_does_nothing_else(
    spark: SparkSession, tmp_path: Path, marked: str
) -> None:
    append(spark, tmp_path, 1)

    jobs = [append(spark, tmp_path, number, marked) for number in (2, 3)]

    assert jobs == [1, 1]
    assert append(spark, tmp_path, 4) > 1, "once Delta does as well by itself, this class has no purpose"
    assert landed(spark, tmp_path) == [1, 2, 3, 4]


def test_it_says_of_itself_what_any_append_of_delta_does(spark: SparkSession, tmp_path: Path, marked: str) -> None:
    for kind in (DELTA, DELTA, marked):
        append(spark, tmp_path, 1 + len(list(tmp_path.glob("_delta_log/*.json"))), kind)

    ours, theirs, _ = deltaworks.open_table(tmp_path).history()
    assert (ours.operation, ours.parameters) == (theirs.operation, theirs.parameters)
    assert ours.metrics["numOutputRows"] == "1"
    assert [(mark.app_id, mark.version) for mark in ours.marks] == [(APPLICATION, 3)]


@pytest.mark.parametrize("older", [2, 1])
def test_a_mark_that_is_there_is_skipped(spark: SparkSession, tmp_path: Path, marked: str, older: int) -> None:
    append(spark, tmp_path, 1)
    append(spark, tmp_path, 2, marked)

    append(spark, tmp_path, older, marked)

    assert landed(spark, tmp_path) == [1, 2]


def test_a_mark_is_found_too_behind_a_version_of_another_engine(
    spark: SparkSession, tmp_path: Path, marked: str
) -> None:
    append(spark, tmp_path, 1)
    append(spark, tmp_path, 2, marked)
    write_deltalake(tmp_path, pa.table({"id": [9]}), mode="append")

    append(spark, tmp_path, 2, marked)
    append(spark, tmp_path, 3, marked)

    assert landed(spark, tmp_path) == [1, 2, 3, 9]


def test_of_writers_with_the_same_mark_one_lands(spark: SparkSession, tmp_path: Path, marked: str) -> None:
    append(spark, tmp_path, 1)

    def one(_: int) -> str:
        try:
            append(spark, tmp_path, 2, marked)
        except ConcurrentTransactionException:
            return "told"
        return "landed, or skipped"

    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(one, range(4)))

    assert "landed, or skipped" in told
    assert landed(spark, tmp_path) == [1, 2]
