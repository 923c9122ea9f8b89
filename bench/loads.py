"""Races of a pipeline against the same load by hand, on the same rows."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import write_deltalake

from bench.timing import interleaved, save

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SIDES = ("hand", "deltaworks")


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """One load, raced in `folder` from `rows` into a copy of `target`, or into nothing."""

    what: str
    folder: Path
    rows: Path
    target: Path | None = None
    _number: Iterator[int] = field(default_factory=count)

    def run(self, rounds: int, *, goal: float, goal_rate: int) -> None:
        """Race, print the ratio and the rows a second, keep the numbers."""
        times = interleaved(self._sides(), rounds=rounds)
        ratio = times["deltaworks"].median / times["hand"].median
        rate = sum(pq.read_metadata(file).num_rows for file in self.rows.iterdir()) / times["deltaworks"].median
        print(f"by hand     {times['hand']}\ndeltaworks  {times['deltaworks']}")
        print(f"ratio {ratio:.2f}, goal {goal}; {rate:,.0f} rows/s, goal {goal_rate:,}")
        print(save(self.what, times, ratio=ratio, goal=goal, rows_per_second=rate, goal_rows_per_second=goal_rate))

    def _sides(self) -> dict[str, Callable[[], float]]:
        """Both sides, each a function that loads once in a new process and says how long it took."""
        return {who: lambda who=who: self._seconds(who) for who in SIDES}  # type: ignore[misc]

    def _seconds(self, who: str) -> float:
        table = self.folder / f"{who}-{next(self._number)}"
        if self.target:
            shutil.copytree(self.target, table)
        command = [sys.executable, "-m", "bench.side", who, self.what, str(self.rows), str(table)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        shutil.rmtree(table)
        return float(done.stdout.strip().splitlines()[-1])


def orders(ids: pa.Array) -> pa.Table:
    """Rows of five columns that depend on their id alone."""
    return pa.table(
        {
            "id": ids,
            "customer": pc.cast(_modulo(ids, 1000), pa.int32()),
            "name": pc.binary_join_element_wise("name", pc.cast(_modulo(ids, 5000), pa.string()), "-"),
            "amount": pc.divide(pc.cast(_modulo(ids, 977), pa.float64()), 7.0),
            "at": pc.cast(pc.add(_modulo(ids, 2_000_000), 1_700_000_000), pa.timestamp("s")).cast(
                pa.timestamp("us", "UTC")
            ),
        }
    )


def save_parquet(rows: pa.Table, folder: Path, files: int) -> Path:
    """Write rows as that many Parquet files."""
    folder.mkdir(parents=True)
    for number, part in enumerate(_parts(rows, files)):
        pq.write_table(part, folder / f"part-{number:03}.parquet", compression="snappy")
    return folder


def save_delta(rows: pa.Table, folder: Path, files: int) -> Path:
    """Write rows as a Delta table of that many files, a commit each."""
    parts = list(_parts(rows, files))
    write_deltalake(folder, parts[0])
    for part in parts[1:]:
        write_deltalake(folder, part, mode="append")
    return folder


def _parts(rows: pa.Table, number: int) -> Iterator[pa.Table]:
    size = -(-rows.num_rows // number)
    return (rows.slice(start, size) for start in range(0, rows.num_rows, size))


def _modulo(values: pa.Array, by: int) -> pa.Array:
    return pc.subtract(values, pc.multiply(pc.divide(values, by), by))
