"""Following a source from the command line: stopped, killed, started again."""

from __future__ import annotations

import json
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

import deltaworks
from deltaworks.lake.table import NotATableError
from tests.e2e.commands import deltaworks as command
from tests.e2e.commands import started

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.servers.database import TestDatabase

PATIENCE = 120  # seconds
FOREVER = 99  # the id of a row that takes Spark a minute
ENDLESS = {
    "type": "filter",
    "parameters": {"condition": f"id < {FOREVER} OR reflect('java.lang.Thread', 'sleep', CAST(60000 AS BIGINT)) = ''"},
}
QUICK = {"conf": {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}}


def add(folder: Path, *ids: int, **columns: list[str]) -> None:
    rows = pa.table({"id": pa.array(ids, pa.int32()), **columns})
    write_deltalake(folder / "in", rows, mode="append", schema_mode="merge")


def landed(folder: Path) -> list[int]:
    try:
        return sorted(deltaworks.open_table(folder / "out").to_arrow()["id"].to_pylist())
    except NotATableError:
        return []


def wait_until(happened: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + PATIENCE
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.2)


def wait_for(folder: Path, expected: list[int], process: subprocess.Popen[str]) -> None:
    wait_until(lambda: landed(folder) == expected, process)


@contextmanager
def following(folder: Path, *words: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    with ended(started("run", "orders.json", "--follow", *words, cwd=folder, **variables)) as process:
        yield process


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    file: dict[str, Any] = {
        "pipelineId": "orders",
        "extract": {"sourceType": "DeltaLake", "connectionParams": {"path": "in"}, "incremental": True},
        "load": {"sinkType": "DeltaLake", "connectionParams": {"path": "out", "mergeSchema": True}},
        "writeMode": "Append",
        "spark": QUICK,
    }
    (tmp_path / "orders.json").write_text(json.dumps(file))
    return tmp_path


def test_a_followed_source_lands_as_it_grows_until_sigterm_and_goes_on_after_a_kill_and_with_a_new_column(
    pipeline: Path,
) -> None:
    add(pipeline, 1, 2)
    with following(pipeline) as first:
        wait_for(pipeline, [1, 2], first)
        add(pipeline, 3)
        wait_for(pipeline, [1, 2, 3], first)
        first.send_signal(signal.SIGKILL)

    add(pipeline, 4)
    with following(pipeline, "--every", "1s") as second:
        wait_for(pipeline, [1, 2, 3, 4], second)
        add(pipeline, 5, name=["a"])
        wait_for(pipeline, [1, 2, 3, 4, 5], second)
        second.send_signal(signal.SIGTERM)
        out, err = second.communicate(timeout=PATIENCE)

    assert second.returncode == 0, err
    assert deltaworks.open_table(pipeline / "out").to_arrow()["name"].drop_null().to_pylist() == ["a"]
    assert "2 batches" in out
    assert "Stopping after this batch" in err

    quiet = command("run", "orders.json", cwd=pipeline)
    assert quiet.returncode == 0
    assert "orders: nothing new since 20" in quiet.stdout
    assert "version 4" in quiet.stdout
    runs = json.loads(command("runs", "list", "--json", cwd=pipeline).stdout)
    assert sorted(run["status"] for run in runs) == ["interrupted", "succeeded", "succeeded"]


def test_a_run_that_is_stopped_keeps_what_had_landed_and_a_second_ctrl_c_ends_one_that_follows_at_once(
    pipeline: Path,
) -> None:
    for number in (1, 2, 3):
        add(pipeline, number)
    one_by_one = ("--set", "extract.incremental={maxFilesPerBatch: 1}")
    stopped = started("run", "orders.json", *one_by_one, cwd=pipeline, DELTAWORKS_FAILPOINTS="after_batch=sleep:15")
    with ended(stopped):
        wait_for(pipeline, [1], stopped)
        stopped.send_signal(signal.SIGTERM)
        _, err = stopped.communicate(timeout=PATIENCE)

    assert stopped.returncode == 130, err
    assert "The run was stopped" in err
    assert "Traceback" not in err
    assert landed(pipeline) == [1]

    with following(pipeline, "--set", f"transform={json.dumps([ENDLESS])}") as impatient:
        wait_for(pipeline, [1, 2, 3], impatient)
        add(pipeline, FOREVER)  # the third batch never ends
        assert any("orders: batch 3" in line for line in impatient.stderr or ())
        for _ in range(2):
            impatient.send_signal(signal.SIGINT)
            time.sleep(1.5)  # two at once are one
        _, err = impatient.communicate(timeout=30)

    assert impatient.returncode == 130, err
    assert "Stopping after this batch; once more to stop at once." in err
    assert "Traceback" not in err
    assert landed(pipeline) == [1, 2, 3]
    runs = json.loads(command("runs", "list", "--json", cwd=pipeline).stdout)
    assert [run["status"] for run in runs] == ["interrupted", "interrupted"]


def test_a_followed_table_of_a_database_lands_as_it_grows_until_sigterm(pipeline: Path, pg: TestDatabase) -> None:
    pg.run("CREATE TABLE orders (id int primary key)", "INSERT INTO orders VALUES (1), (2)")
    source = {**pg.source(table="orders"), "incremental": {"cursorColumn": "id"}}
    login = {f"DELTAWORKS_DB__{name.upper()}": value for name, value in pg.credential.items()}
    file = pipeline / "orders.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "extract": source}))

    with following(pipeline, "--every", "500ms", **login) as polling:
        wait_for(pipeline, [1, 2], polling)
        pg.run("INSERT INTO orders VALUES (3)")
        wait_for(pipeline, [1, 2, 3], polling)
        pg.run("INSERT INTO orders VALUES (4), (5)")
        wait_for(pipeline, [1, 2, 3, 4, 5], polling)
        polling.send_signal(signal.SIGTERM)
        out, err = polling.communicate(timeout=PATIENCE)

    assert polling.returncode == 0, err
    assert "3 batches" in out
    assert "Stopping after this batch" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--every", "10s"), "--every is for --follow"),
        (("--follow", "--every", "soon"), "'soon' is no duration"),
        (("--follow", "--key", "monday"), "A key does not go with an incremental read"),
        (("--from", "1"), "A range needs --from and --to"),
        (("--from", "1", "--to", "2", "--follow"), "A range is loaded once"),
        (("--dry-run", "--follow"), "--follow has no meaning"),
    ],
)
def test_nonsense_is_told_before_anything_starts(pipeline: Path, words: tuple[str, ...], said: str) -> None:
    found = command("run", "orders.json", *words, cwd=pipeline)

    assert found.returncode == 2
    assert said in found.stderr
    assert not (pipeline / "out").exists()
