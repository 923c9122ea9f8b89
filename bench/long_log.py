"""A table on S3 after thousands of commits: does it take longer to open it and to append to it than at the beginning?

S3 lists what comes after a name without looking at what comes before it. S3Proxy looks at every file of the folder,
so how long its answer takes is measured too, and the ratios are also given without it.

python -m bench.long_log [COMMITS]
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

import deltaworks
from bench.bucket import buckets, session
from bench.timing import elapsed, interleaved, save
from bench.writer import rows
from deltaworks.lake.folder import folder_at
from deltaworks.lake.log import Log
from deltaworks.vault.storage import Sources, access_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from bench.bucket import Bucket
    from deltaworks.vault.storage import Access

GOAL = 1.5
COMMITS = 5_000
ROUNDS = 21
LISTINGS = {"open": 1, "append": 2}  # how often each lists the log: delta-rs, and before a commit Delta too


def main(commits: int = COMMITS) -> None:
    """Measure a young table and an old one in turn, print the ratios, keep the numbers."""
    with buckets("young", "old") as (young, old):
        os.environ.update(young.options)
        spark = session(default_log_store=False)
        for lake, number in ((young, 1), (old, commits)):
            _grow(lake, number)
        for lake in (young, old):
            for _ in range(10):
                _append(spark, lake)  # classes loaded and compiled
        acts: dict[str, Callable[[Bucket], object]] = {
            "open": _open,
            "append": partial(_append, spark),
            "list": _list,
        }
        peers = {
            f"{name} {lake.name}": partial(elapsed, partial(act, lake))
            for name, act in acts.items()
            for lake in (young, old)
        }
        times = interleaved(peers, rounds=ROUNDS)
        versions = _open(old).version + 1
    middle = {name: found.median for name, found in times.items()}
    ratios = {name: round(middle[f"{name} old"] / middle[f"{name} young"], 3) for name in LISTINGS}
    ours = {name: round(_without(middle, name, "old") / _without(middle, name, "young"), 3) for name in LISTINGS}
    for name, found in times.items():
        print(f"{name:<14} {found}")
    print(f"ratios {ratios}, without the listings {ours}")
    print(save("long_log", times, goal=GOAL, commits=versions, ratios=ratios, without_listings=ours))
    os._exit(0)  # nobody waits for Spark's end


def _open(lake: Bucket) -> deltaworks.Table:
    return deltaworks.open_table(lake.uri("t"), storage_options=lake.options)


def _list(lake: Bucket) -> None:
    log = Log(lake.uri("t"), _access(lake))
    log.versions(log.summed_up())


def _without(middle: dict[str, float], name: str, lake: str) -> float:
    return middle[f"{name} {lake}"] - LISTINGS[name] * middle[f"list {lake}"]


def _access(lake: Bucket) -> Access:
    return access_to(lake.uri("t"), Sources(given=lake.options))


def _append(spark: SparkSession, lake: Bucket) -> None:
    load: dict[str, Any] = {"sinkType": "DeltaLake", "connectionParams": {"path": lake.uri("t")}}
    result = deltaworks.load(spark.createDataFrame(rows("spark", 0)), load, "Append")
    assert result.success, result.error


def _grow(lake: Bucket, commits: int) -> None:
    """Make a table of many commits on the disk, then put it into the bucket: only what comes afterwards is measured."""
    with tempfile.TemporaryDirectory(prefix="deltaworks-bench-") as scratch:
        for number in range(2):
            properties = CommitProperties(app_transactions=[Transaction("grow", number)])
            write_deltalake(scratch, rows("rust", number), mode="append", commit_properties=properties)
        for number in range(2, commits):
            _repeat(Path(scratch), number)
        DeltaTable(scratch).create_checkpoint()
        _put(Path(scratch), lake)


def _repeat(table: Path, number: int) -> None:
    """Repeat the second commit with a file of its own: every commit of delta-rs reads the list of all files."""
    actions = [json.loads(line) for line in (table / f"_delta_log/{1:020}.json").read_text().splitlines()]
    for action in actions:
        if "txn" in action:
            action["txn"]["version"] = number
        if "add" in action:
            name = f"part-{number:05}.parquet"
            shutil.copyfile(table / action["add"]["path"], table / name)
            action["add"]["path"] = name
    (table / f"_delta_log/{number:020}.json").write_text("\n".join(map(json.dumps, actions)))


def _put(folder: Path, lake: Bucket) -> None:
    there = folder_at(lake.uri("t"), _access(lake))
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda name: there.write(name, files[name].read_bytes()), files))
    print(f"  {len(files):,} files put into {lake.name}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
