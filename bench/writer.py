"""One of several writers of the same table, in a process of its own: told what to write by lines, tells what landed.

python -m bench.writer NAME spark|default|delta-rs; the way to the bucket stands in the environment.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import CommitProperties, Transaction, write_deltalake
from deltalake.exceptions import DeltaError

import deltaworks
from bench.bucket import session

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

ROWS = 10  # in a commit


def main(name: str, kind: str) -> None:
    """Write as told until there is nothing more to do."""
    write = _by_delta_rs if kind == "delta-rs" else _by_spark(default_log_store=kind == "default")
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        landed = [seq for seq in range(order["commits"]) if write(order["uri"], name, seq)]
        print(json.dumps(landed), flush=True)


def rows(name: str, seq: int) -> pa.Table:
    """The rows of one commit, each unlike any other."""
    return pa.table({"writer": [name] * ROWS, "seq": [seq] * ROWS, "row": list(range(ROWS))})


def _by_spark(*, default_log_store: bool) -> Callable[[str, str, int], bool]:
    return by_spark(session(default_log_store=default_log_store), alone=default_log_store)


def by_spark(spark: SparkSession, *, alone: bool = False) -> Callable[[str, str, int], bool]:
    """Commits through a session; `alone` says that nobody else writes, whether that is so or not."""

    def write(uri: str, name: str, seq: int) -> bool:
        params: dict[str, Any] = {"path": uri, "singleDriver": alone, "maxCommitAttempts": 100}
        load = {"sinkType": "DeltaLake", "connectionParams": params}
        result = deltaworks.load(spark.createDataFrame(rows(name, seq)), load, "Append")
        if not result.success:
            print(result.error, file=sys.stderr)
        return result.success

    return write


def _by_delta_rs(uri: str, name: str, seq: int) -> bool:
    # A mark for each commit: without one a lost reply would commit twice.
    marks = [Transaction(f"{name}/{seq}", 1)]
    properties = CommitProperties(app_transactions=marks, max_commit_retries=100)
    try:
        write_deltalake(uri, rows(name, seq), mode="append", commit_properties=properties)
    except DeltaError as error:
        print(error, file=sys.stderr)
        return False
    return True


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)  # nobody waits for Spark's end
