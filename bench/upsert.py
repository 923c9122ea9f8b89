"""Upserts into five million rows in fifty files: pipelines against the MERGE people write.

python -m bench.upsert [ROUNDS [ROWS]]

A million rows: half of them are there already, spread over all files; half are new.
Ten thousand rows: all are there, next to each other. Once with the process warm, as in a service
or a notebook; once cold, where both sides mostly wait for Spark's classes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from bench.loads import Race, Side, orders, save_delta, save_parquet

THERE = 5_000_000
FILES = 50
WARM = 2
GOAL_NEARBY = 0.3
GOAL_RATE = 10_000  # rows a second
KEYS = {"mergeKeys": ["id"]}
VECTORS = """
import sys
from bench.side import own_session
own_session().sql(f"ALTER TABLE delta.`{sys.argv[1]}` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
"""


def main(rounds: int = 5, there: int = THERE) -> None:
    """Measure, print the ratios, keep the numbers."""
    with tempfile.TemporaryDirectory(prefix="deltaworks-bench-") as scratch:
        folder = Path(scratch)
        target = save_delta(orders(pa.array(range(there))), folder / "target", files=FILES)
        many = Side(mode="Upsert", rows=save_parquet(orders(spread(there)), folder / "many", files=4), target=target)
        few = Side(mode="Upsert", rows=save_parquet(orders(nearby(there)), folder / "few", files=1), target=target)
        by_pipeline = replace(few, params=KEYS)
        with_goal = {"hand": few, "checked": replace(by_pipeline, goal=GOAL_NEARBY)}
        Race(name="upsert", folder=folder, sides=million(many, with_vectors(target))).run(rounds, goal_rate=GOAL_RATE)
        Race(name="upsert_nearby", folder=folder, sides=with_goal, warm=WARM).run(rounds)
        Race(name="upsert_nearby_cold", folder=folder, sides={"hand": few, "checked": by_pipeline}).run(rounds)


def million(hand: Side, vectors: Path) -> dict[str, Side]:
    """The load by hand, and as a pipeline with what can be left out or turned on."""
    return {
        "hand": hand,
        "checked": replace(hand, params=KEYS, goal=0.65),
        "unchecked": replace(hand, params={**KEYS, "checks": False}, goal=0.6),
        "deletion vectors": replace(hand, params=KEYS, target=vectors, goal=0.5),
        "hand, deletion vectors": replace(hand, target=vectors),
    }


def with_vectors(target: Path) -> Path:
    """A copy of the table that marks rows as deleted instead of writing their files again."""
    copy = shutil.copytree(target, target.with_name("vectors"))
    subprocess.run([sys.executable, "-c", VECTORS, str(copy)], check=True)
    return copy


def spread(there: int) -> pa.Array:
    """Ids of every tenth row that is there, and of as many that follow."""
    return pa.array([*range(0, there, 10), *range(there, there + there // 10)])


def nearby(there: int) -> pa.Array:
    """Ids of a few rows in the middle, one after the other."""
    return pa.array(range(there // 2, there // 2 + there // 500))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
