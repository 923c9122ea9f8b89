"""`deltaworks run` and `plan`, with a JVM of their own."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import deltaworks as dw
from tests.e2e.commands import csv_pipeline, deltaworks, started

if TYPE_CHECKING:
    from collections.abc import Callable


def wait_until(happened: Callable[[], object], limit: float = 120) -> None:
    until = time.monotonic() + limit
    while not happened():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)


def wait_for(path: Path, pattern: str) -> Path:
    wait_until(lambda: any(path.glob(pattern)))
    return next(iter(path.glob(pattern)))


def test_files_run_in_the_order_in_which_one_needs_the_other(tmp_path: Path) -> None:
    csv_pipeline(tmp_path)
    copy = {"sourceType": "DeltaLake", "connectionParams": {"path": "tables/orders"}}
    csv_pipeline(tmp_path, "copy", extract=copy, transform=[])

    done = deltaworks(
        "run", "copy.json", "orders.json", "--json", "--conf", "spark.sql.shuffle.partitions=1", cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert [result["pipeline_id"] for result in results] == ["orders", "copy"]
    assert dw.open_table(tmp_path / "tables/copy").rows == 10
    assert done.stderr == ""


def test_a_plan_shows_what_would_be_done_and_writes_nothing(tmp_path: Path) -> None:
    csv_pipeline(tmp_path)

    done = deltaworks("plan", "orders.json", "--set", "load.connectionParams.path=else where", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert re.search(r"writes\s+create .*else where", done.stdout)
    assert "not there yet" in done.stdout
    assert re.search(r"amount\s+int", done.stdout)
    assert not (tmp_path / "else where").exists()
    assert not (tmp_path / ".deltaworks").exists()


def test_a_dry_run_shows_rows_after_each_step_and_writes_nothing(tmp_path: Path) -> None:
    csv_pipeline(tmp_path)
    before = sorted(tmp_path.rglob("*"))

    done = deltaworks("run", "orders.json", "--dry-run", "--limit", "2", "-q", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split() for line in done.stdout.splitlines()][2:12] == [
        ["extract"],
        ["id", "amount"],
        ["string", "string"],
        ["0", "00"],
        ["1", "10"],
        [],
        ["transform[0]", "cast"],
        ["id", "amount"],
        ["int", "int"],
        ["0", "0"],
    ]
    assert f"writes  create {tmp_path}/tables/orders" in done.stdout
    assert "\x1b" not in done.stdout
    assert sorted(tmp_path.rglob("*")) == before


def test_a_failure_stops_the_rest_unless_told_to_go_on(tmp_path: Path) -> None:
    bad = [{"type": "withColumn", "parameters": {"name": "id", "expression": "CAST(raise_error('boom') AS int)"}}]
    csv_pipeline(tmp_path, "a-bad", transform=bad)
    csv_pipeline(tmp_path, "b-good")

    stopped = deltaworks("run", "a-bad.json", "b-good.json", "-q", cwd=tmp_path)
    went_on = deltaworks("run", "a-bad.json", "b-good.json", "-q", "--keep-going", cwd=tmp_path)

    assert (stopped.returncode, went_on.returncode) == (1, 1)
    error, hint, record, see = stopped.stderr.splitlines()
    assert "boom" in error
    assert hint.startswith("Hint: ")
    assert record.startswith("Record: ")
    assert "b-good" not in stopped.stdout
    assert "b-good" in went_on.stdout
    assert dw.open_table(tmp_path / "tables/b-good").version == 0
    shown = deltaworks(*see.removeprefix("See it: deltaworks ").split(), cwd=tmp_path)
    assert shown.returncode == 0
    assert "boom" in shown.stdout
    listed = json.loads(deltaworks("runs", "list", "--json", cwd=tmp_path).stdout)
    assert sorted(run["status"] for run in listed) == ["failed", "failed", "succeeded"]


def test_a_second_run_with_a_key_says_it_has_landed(tmp_path: Path) -> None:
    csv_pipeline(tmp_path)

    first = deltaworks("run", "orders.json", "--key", "2024-01-01", "-v", cwd=tmp_path)
    second = deltaworks("run", "orders.json", "--key", "2024-01-01", cwd=tmp_path)

    assert first.returncode == 0, first.stderr
    assert re.search(r"\d\d:\d\d:\d\d \d{8}T\d{6}-\w{8} load took", first.stderr)
    assert (second.returncode, second.stdout) == (0, "orders: already landed as version 0; nothing was written.\n")
    assert dw.open_table(tmp_path / "tables/orders").rows == 10


def test_four_keys_at_once_all_land_and_the_same_key_lands_once(tmp_path: Path) -> None:
    csv_pipeline(tmp_path)
    keys = ["a", "b", "c", "d", "d"]

    runs = [started("run", "orders.json", "-q", "--key", key, cwd=tmp_path) for key in keys]
    outcomes = [run.communicate(timeout=300) for run in runs]

    assert [run.returncode for run in runs] == [0] * 5, outcomes
    table = dw.open_table(tmp_path / "tables/orders")
    assert table.rows == 40
    marks = [mark for commit in table.history() for mark in commit.marks]
    assert sorted(mark.app_id for mark in marks) == [f"deltaworks/orders#{key}" for key in "abcd"]
    assert sum("already landed" in out for out, _ in outcomes) == 1


def test_a_killed_run_is_closed_as_interrupted_and_leaves_the_table_alone(tmp_path: Path) -> None:
    csv_pipeline(tmp_path)

    killed = deltaworks("run", "orders.json", "--key", "k", cwd=tmp_path, DELTAWORKS_FAILPOINTS="before_commit=kill")
    listed = json.loads(deltaworks("runs", "list", "--json", cwd=tmp_path).stdout)
    again = deltaworks("run", "orders.json", "--key", "k", "-q", cwd=tmp_path)

    assert killed.returncode == -signal.SIGKILL
    assert [run["status"] for run in listed] == ["interrupted"]
    assert again.returncode == 0, again.stderr
    assert dw.open_table(tmp_path / "tables/orders").rows == 10


def test_a_run_killed_after_its_commit_is_recognised_as_done(tmp_path: Path) -> None:
    csv_pipeline(tmp_path)

    deltaworks("run", "orders.json", "--key", "k", cwd=tmp_path, DELTAWORKS_FAILPOINTS="after_commit=kill")
    again = deltaworks("run", "orders.json", "--key", "k", cwd=tmp_path)

    assert "already landed as version 0" in again.stdout
    assert dw.open_table(tmp_path / "tables/orders").rows == 10


def test_ctrl_c_ends_with_130_and_a_closed_record(tmp_path: Path) -> None:
    csv_pipeline(tmp_path)
    run = started("run", "orders.json", cwd=tmp_path, DELTAWORKS_FAILPOINTS="before_commit=sleep:60")
    log = wait_for(tmp_path, ".deltaworks/runs/orders/*/run.log")
    wait_until(lambda: "plan took" in log.read_text())

    run.send_signal(signal.SIGINT)
    _, stderr = run.communicate(timeout=60)

    assert run.returncode == 130
    assert "Error: The run was stopped." in stderr
    assert "Traceback" not in stderr
    record = json.loads(wait_for(tmp_path, ".deltaworks/runs/orders/*/manifest.json").read_text())
    assert record["status"] == "interrupted"
    assert not (tmp_path / "tables").exists()


def test_ctrl_c_while_spark_starts_leaves_no_jvm_behind(tmp_path: Path) -> None:
    csv_pipeline(tmp_path)
    run = started("run", "orders.json", cwd=tmp_path)
    wait_until(lambda: jvms_of(run.pid))
    jvm = jvms_of(run.pid)[0]

    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)

    assert run.returncode == 130
    wait_until(lambda: not Path(f"/proc/{jvm}").exists(), limit=20)


def jvms_of(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for task in tasks for child in task.read_text().split()]
    return [child for child in children if b"java" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0]]
