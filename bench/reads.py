"""Reads of five million rows in fifty files: `deltaworks.extract` against plain Parquet; and the bytes both take up.

python -m bench.reads [ROUNDS [ROWS]]

One warm process with our own session asks all questions in turn. The Parquet peer has copies of the table's very
files. For its filter Spark's push-down is off: with it Spark skips row groups by the files' footers, which is
skipping too; that ratio is reported as well. Every reading begins with a path, so finding the files is timed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import write_deltalake

import deltaworks
from bench.loads import orders, save_delta, save_parquet
from bench.side import Load, own_session
from bench.timing import elapsed, interleaved, save
from deltaworks.ops import optimize
from deltaworks.spark.session import close_session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import DataFrame, Row, SparkSession

    from bench.timing import Times

    Peers = Mapping[str, Callable[[], Row | None]]

ROWS = 5_000_000
FILES = 50
VERSIONS = 50
WARM = 3
SUMS = ("count(*)", "sum(id)", "sum(customer)", "sum(length(name))", "round(sum(amount))", "sum(unix_seconds(at))")
CUSTOMERS = "customer BETWEEN 500 AND 509"  # one row in a hundred, some in every file


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """One thing in terms of another, and what it may be at most."""

    of: str
    to: str
    goal: float | None = None


RATIOS = {
    "filter": Ratio(of="filter, Delta", to="filter, Parquet", goal=0.5),
    "filter, pushed down": Ratio(of="filter, Delta", to="filter, Parquet pushed down"),
    "full read": Ratio(of="full read, Delta", to="full read, Parquet", goal=1.1),
    "time travel": Ratio(of="version 0", to="latest version"),
    "Z-order": Ratio(of="filter, Z-ordered", to="filter, as arrived"),
    "stored": Ratio(of="bytes, Delta", to="bytes, Parquet", goal=1.1),
}


def main(rounds: int = 9, number: int = ROWS) -> None:
    """Measure, print the ratios, keep the numbers."""
    with tempfile.TemporaryDirectory(prefix="deltaworks-bench-") as scratch:
        spark = own_session()
        try:
            times = raced(peers(spark, Path(scratch), number), rounds)
            sizes = stored(spark, Path(scratch), number)
        finally:
            close_session(spark)
    values = {name: found.median for name, found in times.items()} | sizes
    ratios = {name: asdict(ratio) | {"ratio": values[ratio.of] / values[ratio.to]} for name, ratio in RATIOS.items()}
    for name, found in ratios.items():
        goal = f"goal {found['goal']}" if found["goal"] else ""
        print(f"{name:<20} ratio {found['ratio']:5.2f}  {goal:<9} {found['of']} / {found['to']}")
    print(save("reads", times, rows=number, ratios=ratios, stored=sizes))


def peers(spark: SparkSession, folder: Path, number: int) -> Peers:
    """All questions, ready to be asked again and again."""
    ids = f"id >= {number // 2} AND id < {number // 2 + number // 100}"
    table = save_delta(orders(pa.array(range(number))), folder / "table", files=FILES)
    ordered = z_ordered(spark, shutil.copytree(table, folder / "ordered"))
    past = with_versions(orders(pa.array(range(number // 10))), folder / "past")
    files = str(shutil.copytree(table, folder / "files", ignore=shutil.ignore_patterns("_delta_log")))
    pushing_nothing = spark.newSession()
    pushing_nothing.conf.set("spark.sql.parquet.filterPushdown", "false")
    return {
        "filter, Delta": lambda: sums(delta(spark, table), ids),
        "filter, Parquet": lambda: sums(pushing_nothing.read.parquet(files), ids),
        "filter, Parquet pushed down": lambda: sums(spark.read.parquet(files), ids),
        "full read, Delta": lambda: sums(delta(spark, table)),
        "full read, Parquet": lambda: sums(spark.read.parquet(files)),
        "version 0": lambda: sums(delta(spark, past, versionAsOf=0)),
        "latest version": lambda: sums(delta(spark, past)),
        "filter, as arrived": lambda: sums(delta(spark, table), CUSTOMERS),
        "filter, Z-ordered": lambda: sums(delta(spark, ordered), CUSTOMERS),
    }


def delta(spark: SparkSession, table: Path, **params: Any) -> DataFrame:
    """The rows as a pipeline gets them."""
    return deltaworks.extract(
        {"sourceType": "DeltaLake", "connectionParams": {"path": str(table), **params}}, spark=spark
    )


def sums(rows: DataFrame, condition: str = "true") -> Row | None:
    """Look at every column of the rows that are meant."""
    return rows.where(condition).selectExpr(*SUMS).first()


def raced(peers: Peers, rounds: int) -> dict[str, Times]:
    """Time the peers, once they are warm and known to agree."""
    for _ in range(WARM):
        answers = {name: act() for name, act in peers.items()}
    for ratio in RATIOS.values():
        assert answers.get(ratio.of) == answers.get(ratio.to), ratio
    return interleaved({name: partial(elapsed, act) for name, act in peers.items()}, rounds=rounds)


def z_ordered(spark: SparkSession, table: Path) -> Path:
    """The table in as many files as before, each with few customers; Delta's own file size would make it one."""
    found = deltaworks.open_table(table)
    plan = optimize.plan(found, z_order=["customer"], target_file_size=size(table) // FILES)
    optimize.apply(plan, spark)
    return table


def with_versions(rows: pa.Table, table: Path) -> Path:
    """The same rows over and over, in files of their own each time."""
    for _ in range(VERSIONS):
        write_deltalake(table, rows, mode="overwrite")
    return table


def stored(spark: SparkSession, folder: Path, number: int) -> dict[str, int]:
    """Bytes of the rows as a pipeline lands them, log included, and as the same Spark writes them as Parquet."""
    rows = save_parquet(orders(pa.array(range(number))), folder / "rows", files=10)
    load = Load(mode="Append", rows=str(rows), format="parquet", params={})
    load.by_pipeline(spark, str(folder / "as-delta"))
    load.by_hand(spark, str(folder / "as-parquet"))
    return {"bytes, Delta": size(folder / "as-delta"), "bytes, Parquet": size(folder / "as-parquet")}


def size(folder: Path) -> int:
    """Bytes of all files."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
