"""A table on S3 after thousands of commits: does it take longer to open it and to append to it?

python -m bench.long_log [COMMITS]
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

import deltaworks
from bench.bucket import bucket, session
from bench.timing import Times, elapsed, save
from bench.writer import rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from bench.bucket import Bucket

GOAL = 1.5
COMMITS = 5_000
TIMES = 15


def main(commits: int = COMMITS) -> None:
    """Measure at the beginning and at the end, print the ratios, keep the numbers."""
    with bucket() as lake:
        os.environ.update(lake.options)
        spark = session(default_log_store=False)
        uri = lake.uri("t")
        write_deltalake(uri, rows("first", 0), storage_options=lake.options)
        for _ in range(10):
            _append(spark, uri)  # classes loaded and compiled
        times = _measured("at the beginning", spark, lake, uri)
        _grown(lake, uri, commits)
        times |= _measured("at the end", spark, lake, uri)
        versions = DeltaTable(uri, storage_options=lake.options).version() + 1
    ratios = {
        act: round(times[f"{act} at the end"].median / times[f"{act} at the beginning"].median, 3)
        for act in ("open", "append")
    }
    print(ratios)
    print(save("long_log", times, goal=GOAL, commits=versions, ratios=ratios))
    os._exit(0)  # nobody waits for Spark's end


def _measured(when: str, spark: SparkSession, lake: Bucket, uri: str) -> dict[str, Times]:
    acts: dict[str, Callable[[], object]] = {
        "open": partial(deltaworks.open_table, uri, storage_options=lake.options),
        "append": partial(_append, spark, uri),
    }
    found = {f"{name} {when}": Times(seconds=tuple(elapsed(act) for _ in range(TIMES))) for name, act in acts.items()}
    for name, times in found.items():
        print(f"{name:<24} {times}", flush=True)
    return found


def _append(spark: SparkSession, uri: str) -> None:
    load: dict[str, Any] = {"sinkType": "DeltaLake", "connectionParams": {"path": uri}}
    result = deltaworks.load(spark.createDataFrame(rows("spark", 0)), load, "Append")
    assert result.success, result.error


def _grown(lake: Bucket, uri: str, commits: int) -> None:
    """Commit again and again, with a checkpoint now and then as every writer makes them."""
    table = DeltaTable(uri, storage_options=lake.options)
    for number in range(commits):
        properties = CommitProperties(app_transactions=[Transaction("grow", number)], max_commit_retries=0)
        write_deltalake(table, rows("rust", number), mode="append", commit_properties=properties)
        if number % 500 == 499:
            print(f"  {number + 1:,} of {commits:,} commits", flush=True)
    DeltaTable(uri, storage_options=lake.options).create_checkpoint()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
