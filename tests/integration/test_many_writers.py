"""Two to sixteen writers of one table at once, on a disk and in a bucket: what was acknowledged is there once."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import DeltaError

import deltaworks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from threading import Barrier

    from pyspark.sql import SparkSession

    from tests.servers.s3 import S3Server

MOST, COMMITS = 16, 2
SPAWN = multiprocessing.get_context("spawn")


def rows(writer: int, seq: int) -> pa.Table:
    return pa.table({"writer": [writer] * 2, "seq": [seq] * 2})


def append(uri: str, options: dict[str, str], writer: int, start: Barrier) -> list[tuple[int, int]]:
    """Append as a service does; which commits were acknowledged."""
    start.wait(60)
    landed = []
    for seq in range(COMMITS):
        marks = [Transaction(f"writer-{writer}-{seq}", 1)]
        properties = CommitProperties(app_transactions=marks, max_commit_retries=100)
        try:
            write_deltalake(
                uri, rows(writer, seq), mode="append", storage_options=options, commit_properties=properties
            )
        except DeltaError:
            continue
        landed.append((writer, seq))
    return landed


@pytest.fixture(scope="module")
def others() -> Iterator[ProcessPoolExecutor]:
    """Processes for all writers but the first, which is Spark here."""
    with ProcessPoolExecutor(MOST - 1, mp_context=SPAWN) as pool:
        yield pool


@pytest.fixture(params=["disk", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, dict[str, str]]:
    if request.param == "disk":
        return str(tmp_path / "t"), {}
    s3: S3Server = request.getfixturevalue("s3")
    return f"s3a://{request.getfixturevalue('bucket')}/t", s3.options()


@pytest.mark.parametrize("number", [2, 4, 8, MOST])
def test_every_acknowledged_row_is_there_once(
    spark: SparkSession,
    others: ProcessPoolExecutor,
    place: tuple[str, dict[str, str]],
    number: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    uri, options = place
    for name, value in options.items():
        monkeypatch.setenv(name, value)
    write_deltalake(uri, rows(-1, 0), storage_options=options)
    load = {"sinkType": "DeltaLake", "connectionParams": {"path": uri, "maxCommitAttempts": 100}}

    with SPAWN.Manager() as manager:
        start = manager.Barrier(number)
        found = [others.submit(append, uri, options, writer, start) for writer in range(1, number)]
        start.wait(60)
        results = [deltaworks.load(spark.createDataFrame(rows(0, seq)), load, "Append") for seq in range(COMMITS)]
        landed = [(0, seq) for seq, result in enumerate(results) if result.success]
        landed += [each for writer in found for each in writer.result()]

    there = DeltaTable(uri, storage_options=options)
    count = Counter((row["writer"], row["seq"]) for row in there.to_pyarrow_table().to_pylist())
    spark_count = spark.read.format("delta").load(uri).count()
    assert all(result.success for result in results)
    assert {each: count[each] for each in landed} == dict.fromkeys(landed, 2)
    assert max(count.values()) == 2
    assert spark_count == sum(count.values())
