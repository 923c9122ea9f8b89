"""Append of five million rows, Parquet to Delta: a pipeline against the same write by hand.

python -m bench.append [ROUNDS [ROWS]]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pyarrow as pa

from bench.loads import Race, Side, orders, save_parquet

ROWS = 5_000_000
GOAL = 1.05
GOAL_RATE = 100_000  # rows a second


def main(rounds: int = 5, number: int = ROWS) -> None:
    """Measure, print the ratio, keep the numbers."""
    with tempfile.TemporaryDirectory(prefix="deltaworks-bench-") as scratch:
        folder = Path(scratch)
        rows = save_parquet(orders(pa.array(range(number))), folder / "rows", files=10)
        sides = {
            "hand": Side(mode="Append", rows=rows),
            "deltaworks": Side(mode="Append", rows=rows, params={}, goal=GOAL),
        }
        Race(name="append", folder=folder, sides=sides).run(rounds, goal_rate=GOAL_RATE)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
