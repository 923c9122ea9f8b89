"""Databases from the command line: what a person sees, and which code a command ends with."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import deltaworks as library
from tests.canaries import new_canary
from tests.e2e.commands import deltaworks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.database import TestDatabase
    from tests.servers.keeper import Run


def pipeline(folder: Path, database: TestDatabase, **params: Any) -> str:
    config = {
        "pipelineId": "orders",
        "extract": database.source(**params),
        "load": {"sinkType": "DeltaLake", "path": "tables/orders"},
        "writeMode": "Append",
        "spark": {"conf": {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}},
    }
    (folder / "orders.json").write_text(json.dumps(config))
    return "orders.json"


def login(database: TestDatabase, **changes: str) -> dict[str, str]:
    """The credential `db`, as the environment has it."""
    return {f"DELTAWORKS_DB__{name.upper()}": value for name, value in (database.credential | changes).items()}


def test_a_run_on_a_machine_of_another_zone_keeps_every_time(tmp_path: Path, pg: TestDatabase) -> None:
    # One that Berlin's clocks skipped, and two from before there were time zones.
    times = [datetime(2024, 3, 31, 2, 30), datetime(1, 1, 1), datetime(1883, 11, 18, 12, 3, 57, 500_000)]
    pg.run("CREATE TABLE orders (at timestamptz, clock timestamp, day date)")
    for time in times:
        pg.run(f"INSERT INTO orders VALUES ('{time.isoformat()}Z', '{time.isoformat()}', '{time.date()}')")
    file = pipeline(tmp_path, pg, table="orders")
    done = deltaworks("run", file, cwd=tmp_path, **login(pg), TZ="Europe/Berlin")

    assert done.returncode == 0, done.stderr
    rows = library.open_table(tmp_path / "tables/orders").to_arrow().to_pylist()
    expected = sorted((time.replace(tzinfo=UTC), time, time.date()) for time in times)
    assert sorted((row["at"], row["clock"], row["day"]) for row in rows) == expected


@pytest.mark.parametrize(
    ("params", "changes", "code", "said"),
    [
        ({"table": "orders"}, {"password": "CANARY"}, 3, "password authentication failed"),
        ({"table": "orders"}, {"host": "nowhere.invalid"}, 3, "cannot be reached"),
        ({"table": "order"}, {}, 2, 'relation "order" does not exist'),
        ({"query": "SELECT idd FROM orders"}, {}, 2, 'column "idd" does not exist'),
    ],
)
def test_a_mistake_is_told_with_what_to_do_before_spark_starts(
    tmp_path: Path,
    pg: TestDatabase,
    whole_run: Run,
    params: dict[str, Any],
    changes: dict[str, str],
    code: int,
    said: str,
) -> None:
    pg.run("CREATE TABLE orders (id int)")
    secret = {name: new_canary(whole_run.folder) if value == "CANARY" else value for name, value in changes.items()}
    done = deltaworks("run", pipeline(tmp_path, pg, **params), cwd=tmp_path, **login(pg, **secret))

    assert done.returncode == code
    error, hint, *_record = [line for line in done.stderr.splitlines() if ": " in line][-4:]
    assert error.startswith("Error: extract: PostgreSQL")
    assert said in error
    assert hint.startswith("Hint: ")
    assert not (tmp_path / "tables").exists()
