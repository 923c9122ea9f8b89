"""Upsert of a million rows into five million in fifty files: a pipeline against the MERGE people write.

python -m bench.upsert [ROUNDS]

Half of the rows are there already, spread over all files; half are new.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pyarrow as pa

from bench.loads import Race, orders, save_delta, save_parquet

THERE = 5_000_000
FILES = 50
HALF = 500_000
GOAL = 0.7
GOAL_RATE = 10_000  # rows a second


def main(rounds: int = 5) -> None:
    """Measure, print the ratio, keep the numbers."""
    with tempfile.TemporaryDirectory(prefix="deltaworks-bench-") as scratch:
        folder = Path(scratch)
        target = save_delta(orders(pa.array(range(THERE))), folder / "target", files=FILES)
        rows = save_parquet(orders(incoming()), folder / "rows", files=4)
        Race(what="upsert", folder=folder, rows=rows, target=target).run(rounds, goal=GOAL, goal_rate=GOAL_RATE)


def incoming() -> pa.Array:
    """Ids of the rows that come: every tenth that is there, and as many that follow."""
    return pa.array([*range(0, THERE, THERE // HALF), *range(THERE, THERE + HALF)])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
