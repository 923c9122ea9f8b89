"""Overwrites of five million rows: against the same rows as plain Parquet, and against an upsert with the same outcome.

python -m bench.overwrite [ROUNDS [ROWS]]

Delta written by hand stands beside plain Parquet, to tell what the format costs from what the pipeline costs.
The upsert brings a million rows, half of them new; the overwrite brings all rows that are there afterwards.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from bench.loads import Race, Side, orders, save_delta, save_parquet
from bench.upsert import FILES, KEYS, THERE, spread


def main(rounds: int = 5, there: int = THERE) -> None:
    """Measure, print the ratios, keep the numbers."""
    with tempfile.TemporaryDirectory(prefix="deltaworks-bench-") as scratch:
        folder = Path(scratch)
        Race(name="overwrite", folder=folder, sides=formats(folder, there)).run(rounds)
        Race(name="upsert_against_overwrite", folder=folder, sides=modes(folder, there)).run(rounds)


def formats(folder: Path, there: int) -> dict[str, Side]:
    """The same rows, over the same rows, as Parquet and as Delta."""
    rows = save_parquet(orders(pa.array(range(there))), folder / "rows", files=10)
    table = save_delta(orders(pa.array(range(there))), folder / "table", files=FILES)
    parquet = Side(mode="Overwrite", rows=rows, format="parquet", target=rows)
    return {
        "Parquet by hand": parquet,
        "Delta by hand": replace(parquet, format="delta", target=table),
        "deltaworks": replace(parquet, format="delta", target=table, params={}),
    }


def modes(folder: Path, there: int) -> dict[str, Side]:
    """Two pipelines that leave the same rows in the table."""
    changed = save_parquet(orders(spread(there)), folder / "changed", files=4)
    after = save_parquet(orders(pa.array(range(there + there // 10))), folder / "after", files=10)
    return {
        "overwrite": Side(mode="Overwrite", rows=after, params={}, target=folder / "table"),
        "upsert": Side(mode="Upsert", rows=changed, params=KEYS, target=folder / "table"),
    }


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
