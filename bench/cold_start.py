"""Cold start to first commit: `deltaworks run` against the plain script everyone starts with.

python -m bench.cold_start [ROUNDS]

The peer has its own Ivy cache warm, as we have our jars and our class archive: both have run here before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path

from bench.timing import elapsed, interleaved, save
from deltaworks.api import cache_folder
from deltaworks.spark.settings import SparkSettings
from deltaworks.spark.training import make

GOAL = 0.6
PLAIN = """
import sys
from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession

builder = (
    SparkSession.builder.master("local[*]")
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
)
spark = configure_spark_with_delta_pip(builder).getOrCreate()
spark.read.option("header", True).csv("ten.csv").write.format("delta").mode("append").save(sys.argv[1])
"""


def main(rounds: int = 7) -> None:
    """Measure, print the ratio, keep the numbers."""
    make(SparkSettings(cache=cache_folder(os.environ)))
    with tempfile.TemporaryDirectory(prefix="deltaworks-bench-") as folder:
        race = Race(Path(folder))
        race.plain()
        race.ours()
        times = interleaved(
            {"plain": lambda: elapsed(race.plain), "deltaworks": lambda: elapsed(race.ours)}, rounds=rounds
        )
    ratio = times["deltaworks"].median / times["plain"].median
    print(f"plain script    {times['plain']}\ndeltaworks run  {times['deltaworks']}\nratio {ratio:.2f}, goal {GOAL}")
    print(save("cold_start", times, ratio=ratio, goal=GOAL))


class Race:
    """Two ways to load ten rows into a new table, each in a new process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tables = count()
        (folder / "ten.csv").write_text("id,name\n" + "".join(f"{row},n{row}\n" for row in range(10)))

    def plain(self) -> None:
        """The script with Delta's own set-up and nothing else."""
        self._run([sys.executable, "-c", PLAIN, f"plain-{next(self._tables)}"])

    def ours(self) -> None:
        """The same as a pipeline."""
        file = self._folder / "pipeline.json"
        file.write_text(json.dumps(_pipeline(f"ours-{next(self._tables)}")))
        self._run([sys.executable, "-m", "deltaworks.cli.main", "run", file.name])

    def _run(self, command: list[str]) -> None:
        # Into a file: a pipe would make us wait for a JVM that outlives its Python.
        with (self._folder / "output.txt").open("w+") as output:
            done = subprocess.run(command, cwd=self._folder, stdout=output, stderr=output, check=False)
            if done.returncode:
                output.seek(0)
                raise SystemExit(f"{command}\n{output.read()}")


def _pipeline(table: str) -> dict[str, object]:
    return {
        "pipelineId": "ten",
        "extract": {
            "sourceType": "File",
            "connectionParams": {"format": "csv", "path": "ten.csv"},
            "options": {"header": True},
        },
        "load": {"sinkType": "DeltaLake", "connectionParams": {"path": table}},
        "writeMode": "Append",
    }


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
