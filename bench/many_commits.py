"""A thousand small commits on one table: whether the last ones take longer than the first.

python -m bench.many_commits [COMMITS]

One pipeline reads a table file by file and commits a hundred rows at a time, in one process that is warm before. A job
by hand does the same in the same run, to tell what of it is Delta's own.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median

from bench.small_batches import SIDES, batch_seconds, fill
from bench.timing import Times, save

COMMITS = 1000
WARM_UP = 150
FEW = 50
GOAL = 1.5  # of what the first took


def main(commits: int = COMMITS) -> None:
    """Measure, print the ratio, keep the numbers."""
    with tempfile.TemporaryDirectory(prefix="deltaworks-bench-") as scratch:
        folder = Path(scratch)
        fill(folder / "warm", WARM_UP)
        fill(folder / "source", commits)
        seconds = {side: batch_seconds(side, folder, warm=folder / "warm") for side in SIDES}
    ends = {side: (median(found[:FEW]), median(found[-FEW:])) for side, found in seconds.items()}
    ratios = {side: round(last / first, 3) for side, (first, last) in ends.items()}
    for side, (first, last) in ends.items():
        print(f"{side:<12} first {first * 1000:.0f} ms, last {last * 1000:.0f} ms, ratio {ratios[side]}")
    ratio = ratios["deltaworks"]
    print(f"goal at most {GOAL}")
    times = {
        f"{side}, {which}": Times(seconds=(at,))
        for side in SIDES
        for which, at in zip(("first", "last"), ends[side], strict=True)
    }
    print(save("many_commits", times, ratio=ratio, goal=GOAL, met=ratio <= GOAL, ratios=ratios, commits=commits))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
