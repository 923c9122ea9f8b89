"""Append of five million rows, Parquet to Delta: a pipeline against the same write by hand.

python -m bench.append [ROUNDS]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pyarrow as pa

from bench.loads import Race, orders, save_parquet
from bench.timing import interleaved, save

ROWS = 5_000_000
GOAL = 1.05
GOAL_RATE = 100_000  # rows a second


def main(rounds: int = 5) -> None:
    """Measure, print the ratio, keep the numbers."""
    with tempfile.TemporaryDirectory(prefix="deltaworks-bench-") as scratch:
        folder = Path(scratch)
        rows = save_parquet(orders(pa.array(range(ROWS))), folder / "rows", files=10)
        times = interleaved(Race(what="append", folder=folder, rows=rows).sides(), rounds=rounds)
    ratio = times["deltaworks"].median / times["hand"].median
    rate = ROWS / times["deltaworks"].median
    print(f"by hand     {times['hand']}\ndeltaworks  {times['deltaworks']}")
    print(f"ratio {ratio:.2f}, goal {GOAL}; {rate:,.0f} rows/s, goal {GOAL_RATE:,}")
    print(save("append", times, ratio=ratio, goal=GOAL, rows_per_second=rate, goal_rows_per_second=GOAL_RATE))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
