"""Races of pipelines against the same loads by hand, and the rows they load."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import write_deltalake

from bench.side import Load
from bench.timing import interleaved, save

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from bench.timing import Times


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One way to do a load: by hand, or as a pipeline with these keys; into a copy of `target`, or into nothing."""

    mode: str
    rows: Path
    params: Mapping[str, Any] | None = None  # none: by hand
    format: str = "delta"  # of what is written by hand
    target: Path | None = None
    goal: float | None = None  # of the first side's time


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Loads raced in `folder`, each in a new process; all are compared with the first.

    `warm` loads into tables of their own go before each one that counts: in a new
    process a small load is mostly Spark's classes being loaded and compiled.
    """

    name: str
    folder: Path
    sides: Mapping[str, Side]
    warm: int = 0
    _number: Iterator[int] = field(default_factory=count)

    def run(self, rounds: int, *, goal_rate: int | None = None) -> None:
        """Race, print the ratios and the rows a second, keep the numbers."""
        print(self.name)
        acts: dict[str, Callable[[], float]] = {name: partial(self._seconds, side) for name, side in self.sides.items()}
        times = interleaved(acts, rounds=rounds)
        facts = {name: self._facts(name, times) for name in self.sides}
        for name, found in facts.items():
            print(f"{name:<24} {times[name]}  " + "  ".join(f"{key} {value}" for key, value in found.items()))
        goal = {"goal_rows_per_second": goal_rate} if goal_rate else {}
        print(save(self.name, times, warm=self.warm, **goal, sides=facts))

    def _facts(self, name: str, times: Mapping[str, Times]) -> dict[str, Any]:
        side, first = self.sides[name], next(iter(self.sides))
        rows = sum(pq.read_metadata(file).num_rows for file in side.rows.iterdir())
        found = {
            "ratio": round(times[name].median / times[first].median, 3),
            "rows": rows,
            "rows_per_second": round(rows / times[name].median),
        }
        return found | ({"goal": side.goal} if side.goal else {})

    def _seconds(self, side: Side) -> float:
        """Load in a new process and say how long the load that counts took."""
        tables = [self._table(side) for _ in range(self.warm + 1)]
        load = Load(
            mode=side.mode, rows=str(side.rows), tables=[*map(str, tables)], format=side.format, params=side.params
        )
        command = [sys.executable, "-m", "bench.side", json.dumps(asdict(load))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        for table in tables:
            shutil.rmtree(table)
        return float(done.stdout.strip().splitlines()[-1])

    def _table(self, side: Side) -> Path:
        table = self.folder / f"table-{next(self._number)}"
        return shutil.copytree(side.target, table) if side.target else table


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
