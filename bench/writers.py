"""Two Spark drivers and two delta-rs writers append to one table on S3 at once: is every acknowledged row there?

Asked of deltaworks' log store, and beside it of the one that Delta itself would take.

python -m bench.writers [ROUNDS [COMMITS]]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltalake import write_deltalake

from bench.bucket import bucket
from bench.timing import save
from bench.writer import ROWS, rows
from deltaworks import open_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.bucket import Bucket

COMMITS = 50
ROOT = Path(__file__).parents[1]


def main(rounds: int = 5, commits: int = COMMITS) -> None:
    """Write, compare what was acknowledged with what is there, keep the numbers."""
    with bucket() as lake:
        found = {
            "conditional put": _raced(lake, "spark", rounds, commits),
            "default": _raced(lake, "default", max(1, rounds // 5), commits),
        }
    for name, results in found.items():
        lost = [result["acknowledged"] - result["kept"] for result in results]
        print(f"{name:<18} rounds {len(results)}  commits acknowledged but lost: {lost}")
    print(save("writers", {}, commits_each=commits, writers=["spark", "spark", "delta-rs", "delta-rs"], rounds=found))
    if any(not result["whole"] for result in found["conditional put"]):
        raise SystemExit("an acknowledged row is not there, or not once")


def _raced(lake: Bucket, kind: str, rounds: int, commits: int) -> list[dict[str, Any]]:
    with several(lake, [kind, kind, "delta-rs", "delta-rs"]) as writers:
        return [_round(lake, writers, f"{kind}-{number}", commits) for number in range(rounds)]


def _round(lake: Bucket, writers: Sequence[Writer], table: str, commits: int) -> dict[str, Any]:
    # There already: of two who make a table, one is told that it is there.
    write_deltalake(lake.uri(table), rows("first", 0), storage_options=lake.options)
    started = time.perf_counter()
    landed = at_once(writers, lake.uri(table), commits)
    seconds = time.perf_counter() - started
    result = compared(lake, table, landed) | {"seconds": round(seconds, 1)}
    print(f"  {table}: {result}", flush=True)
    return result


def compared(lake: Bucket, table: str, landed: dict[str, list[int]]) -> dict[str, Any]:
    """What was acknowledged, and what of it is in the table, each row once."""
    there = open_table(lake.uri(table), storage_options=lake.options).to_arrow().to_pylist()
    found = Counter((row["writer"], row["seq"]) for row in there)
    acknowledged = [(name, seq) for name, seqs in landed.items() for seq in seqs]
    kept = [each for each in acknowledged if found[each] == ROWS]
    twice = [each for each, count in found.items() if count > ROWS]
    return {
        "acknowledged": len(acknowledged),
        "kept": len(kept),
        "twice": len(twice),
        "whole": len(kept) == len(acknowledged) and not twice,
    }


@dataclass(frozen=True, slots=True)
class Writer:
    """A process that writes when it is told to."""

    name: str
    process: subprocess.Popen[str]

    def tell(self, **order: object) -> None:
        """Have it begin."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        """Wait for its next line."""
        assert self.process.stdout
        return self.process.stdout.readline()


@contextmanager
def several(lake: Bucket, kinds: Sequence[str]) -> Iterator[list[Writer]]:
    """Writers of these kinds, ready to begin."""
    with ExitStack() as ends:
        writers = [ends.enter_context(_started(lake, f"{kind}-{at}", kind)) for at, kind in enumerate(kinds)]
        for writer in writers:
            assert writer.hear() == "ready\n", f"{writer.name} did not start"
        yield writers


@contextmanager
def _started(lake: Bucket, name: str, kind: str) -> Iterator[Writer]:
    command = [sys.executable, "-m", "bench.writer", name, kind]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, env={**os.environ, **lake.options}, cwd=ROOT, **pipes)
    try:
        yield Writer(name, process)
    finally:
        process.kill()
        process.wait()


def at_once(writers: Sequence[Writer], uri: str, commits: int) -> dict[str, list[int]]:
    """Have all write the same table at once; which commits each was told had landed."""
    for writer in writers:
        writer.tell(uri=uri, commits=commits)
    return {writer.name: json.loads(writer.hear()) for writer in writers}


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
