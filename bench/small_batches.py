"""What exactly-once costs a small batch: batches of a hundred rows from a Delta table, beside a foreachBatch by hand.

python -m bench.small_batches [ROUNDS [BATCHES]]

Both sides run in a process of their own with the same session, and read the same files, one a batch, without a pause. A
batch takes from one commit to the next, with all that Spark does in between. The first ones do not count.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import median

import pyarrow as pa
from deltalake import write_deltalake

from bench.commits import gaps
from bench.timing import interleaved, save

BATCHES = 400
WARM_UP = 100
ROWS = 100
GOAL = 1.10  # of the time of the job by hand
SIDES = ("hand", "deltaworks")


def main(rounds: int = 5, batches: int = BATCHES) -> None:
    """Measure, print the ratio, keep the numbers."""
    with tempfile.TemporaryDirectory(prefix="deltaworks-bench-") as scratch:
        folder = Path(scratch)
        fill(folder / "source", batches + WARM_UP)
        times = interleaved({side: partial(_seconds, side, folder) for side in SIDES}, rounds=rounds)
    by_hand, ours = (times[side].median for side in SIDES)
    ratio = round(ours / by_hand, 3)
    for side in SIDES:
        print(f"{side:<12} {times[side].median * 1000:.0f} ms a batch")
    print(f"ratio {ratio}, goal at most {GOAL}")
    facts = {"extra_milliseconds": round((ours - by_hand) * 1000, 1), "batches": batches, "rows_per_batch": ROWS}
    print(save("small_batches", times, ratio=ratio, goal=GOAL, met=ratio <= GOAL, **facts))


def fill(source: Path, batches: int) -> None:
    """Make a table of so many files, each a batch."""
    for number in range(batches):
        ids = range(number * ROWS, (number + 1) * ROWS)
        rows = {"id": list(ids), "name": [f"name-{each % 97}" for each in ids], "amount": [each / 7 for each in ids]}
        write_deltalake(source, pa.table(rows), mode="append")


def _seconds(side: str, folder: Path) -> float:
    """The time in the middle that a batch took."""
    return median(batch_seconds(side, folder)[WARM_UP:])


def batch_seconds(side: str, folder: Path, warm: Path | None = None) -> list[float]:
    """Read the source to its end in a new process; what each batch took. Another table may be read before."""
    tables = [(source, folder / f"{side}-{source.name}") for source in (warm, folder / "source") if source]
    words = [str(place) for pair in tables for place in pair]
    command = [sys.executable, "-m", "bench.small_side", side, *words]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found = gaps(tables[-1][1])
    for _, table in tables:
        for place in (table, table.with_name(f"{table.name}-checkpoint")):
            shutil.rmtree(place, ignore_errors=True)
    return found


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
