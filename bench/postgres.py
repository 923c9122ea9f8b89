"""PostgreSQL to Delta, five million rows of ten mixed columns: a pipeline beside what people use today.

python -m bench.postgres [ROUNDS [ROWS]]

Peers: Spark's JDBC reader as it comes (one connection, its own fetch size), dlt with ConnectorX, and as the
limit COPY of the same table to nowhere. Each runs in a process of its own. What counts is the load itself; how
long a process took as a whole, the start of Spark or Python included, is kept beside it. Everyone has run here
before: jars are fetched and our class archive is made.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.servers.keeper import Run
from tests.servers.postgres import postgres_server

from bench.timing import elapsed, interleaved, save
from deltaworks.api import cache_folder
from deltaworks.spark.settings import SparkSettings
from deltaworks.spark.training import make

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.servers.postgres import PostgresServer

ROWS = 5_000_000
GOAL = 0.35  # of the time of Spark's plain reader
DATABASE = "bench"
DLT = ("dlt[deltalake,filesystem,sql-database]==1.31.0", "connectorx==0.4.6", "psycopg[binary]==3.3.8")
MAKE = """
CREATE TABLE orders AS SELECT i::bigint AS id, (i::bigint * 7919 % 100000)::int AS customer_id,
  (i % 1000000 / 100.0)::numeric(12,2) AS amount, (i * 0.37)::float8 AS score,
  timestamptz '2024-01-01' + i * interval '1 s' AS at,
  date '2024-01-01' + i % 365 AS day, i % 3 = 0 AS paid, 'product ' || i % 5000 AS product, md5(i::text) AS token,
  CASE WHEN i % 10 > 0 THEN 'note for order ' || i END AS note FROM generate_series(1, {}) i
"""


def main(rounds: int = 3, number: int = ROWS) -> None:
    """Measure, print the ratios, keep the numbers."""
    make(SparkSettings(cache=cache_folder(os.environ)))
    with tempfile.TemporaryDirectory(prefix="deltaworks-bench-") as scratch:
        folder = Path(scratch)
        server = _filled(folder, number)
        whole: dict[str, list[float]] = {}
        commands = {
            "plain": [sys.executable, "-m", "bench.postgres_side", "plain"],
            "deltaworks": [sys.executable, "-m", "bench.postgres_side", "pipeline"],
            "dlt": [str(_dlt_python()), str(Path(__file__).with_name("postgres_dlt.py"))],
        }
        peers: dict[str, Callable[[], float]] = {
            name: partial(_seconds, command, _place(server, folder), whole.setdefault(name, []))
            for name, command in commands.items()
        }
        times = interleaved({**peers, "copy": partial(_copy, server)}, rounds=rounds)
    facts = {
        name: {
            "ratio": round(found.median / times["plain"].median, 3),
            "rows_per_second": round(number / found.median),
            **({"whole_process": round(median(whole[name]), 2)} if name in whole else {}),
        }
        for name, found in times.items()
    }
    for name, found in facts.items():
        print(f"{name:<12} {times[name]}  " + "  ".join(f"{key} {value}" for key, value in found.items()))
    print(save("postgres", times, rows=number, goal=GOAL, sides=facts))


def _filled(folder: Path, number: int) -> PostgresServer:
    server = postgres_server(Run(folder / "servers", os.getpid()))
    server.database(DATABASE)
    with server.connect(DATABASE) as connection:
        connection.execute(MAKE.format(number))
        connection.execute("ALTER TABLE orders ADD PRIMARY KEY (id)")
        connection.execute("ANALYZE orders")
        connection.execute("CHECKPOINT")
    return server


def _place(server: PostgresServer, folder: Path) -> dict[str, Any]:
    login = {"user": server.user, "password": server.password}
    return {"host": server.host, "port": server.port, "database": DATABASE, "folder": str(folder), **login}


def _seconds(command: list[str], place: dict[str, Any], whole: list[float]) -> float:
    """Load in a new process, which is told the place on its input; how long the load took, as it says itself."""
    said: list[str] = []

    def run() -> None:
        done = subprocess.run(command, input=json.dumps(place), capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        said.append(done.stdout.strip().splitlines()[-1])

    whole.append(elapsed(run))
    return float(said[0])


def _copy(server: PostgresServer) -> float:
    """By the server alone: no client could be faster."""
    with server.connect(DATABASE) as connection:
        return elapsed(partial(connection.execute, "COPY orders TO '/dev/null' (FORMAT binary)"))


def _dlt_python() -> Path:
    """An environment of its own for dlt, made once."""
    folder = cache_folder(os.environ) / "bench-dlt"
    if not (folder / "ready").exists():
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([folder / "bin/pip", "install", "--quiet", *DLT], check=True)
        (folder / "ready").touch()
    return folder / "bin/python"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
