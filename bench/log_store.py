"""Appends and upserts on S3 with deltaworks' log store, against the same with the one that Delta itself would take.

python -m bench.log_store [ROUNDS]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import write_deltalake

import deltaworks
from bench.bucket import bucket, session
from bench.loads import orders
from bench.timing import interleaved, save

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.bucket import Bucket

GOAL = 1.05
THERE, MORE = 200_000, 20_000  # rows in the table, and in a load
WARM = 5
MODES: dict[str, dict[str, Any]] = {"Append": {}, "Upsert": {"mergeKeys": ["id"]}}
STORES = {"default": True, "deltaworks": False}


def main(rounds: int = 15) -> None:
    """Measure, print the ratios, keep the numbers."""
    with bucket() as lake, ExitStack() as ends:
        sides = {name: ends.enter_context(_side(lake, name)) for name in STORES}
        acts = {
            f"{mode} {name}": partial(_told, side, mode=mode, uri=_table(lake, f"{mode}-{name}"))
            for mode in MODES
            for name, side in sides.items()
        }
        for _ in range(WARM):
            for act in acts.values():
                act()
        times = interleaved(acts, rounds=rounds)
    ratios = {mode: round(times[f"{mode} deltaworks"].median / times[f"{mode} default"].median, 3) for mode in MODES}
    print(ratios)
    print(save("log_store", times, goal=GOAL, rows_there=THERE, rows_loaded=MORE, ratios=ratios))


def _table(lake: Bucket, name: str) -> str:
    write_deltalake(lake.uri(name), orders(pa.array(range(THERE))), storage_options=lake.options)
    return lake.uri(name)


def _told(side: subprocess.Popen[str], **order: str) -> float:
    assert side.stdin
    assert side.stdout
    side.stdin.write(json.dumps(order) + "\n")
    side.stdin.flush()
    return float(side.stdout.readline())


@contextmanager
def _side(lake: Bucket, name: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "bench.log_store", "side", name]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env={**os.environ, **lake.options}, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def side(name: str) -> None:
    """Load as told, in a process of its own, and say how long each load took."""
    spark = session(default_log_store=STORES[name])
    for number, line in enumerate(sys.stdin):
        order = json.loads(line)
        first = 0 if order["mode"] == "Upsert" else THERE + number * MORE
        rows = spark.createDataFrame(orders(pa.array(range(first, first + MORE))))
        params = {"path": order["uri"], "singleDriver": STORES[name], **MODES[order["mode"]]}
        started = time.perf_counter()
        result = deltaworks.load(rows, {"sinkType": "DeltaLake", "connectionParams": params}, order["mode"])
        seconds = time.perf_counter() - started
        assert result.success, result.error
        print(seconds, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["side"]:
        side(sys.argv[2])
        os._exit(0)  # nobody waits for Spark's end
    main(*map(int, sys.argv[1:]))
