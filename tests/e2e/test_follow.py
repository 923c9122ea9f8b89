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
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE = 120  # seconds
QUICK = {"conf": {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}}


def add(folder: Path, *ids: int) -> None:
    write_deltalake(folder / "in", pa.table({"id": pa.array(ids, pa.int32())}), mode="append")


def landed(folder: Path) -> list[int]:
    try:
        return sorted(deltaworks.open_table(folder / "out").to_arrow()["id"].to_pylist())
    except NotATableError:
        return []


def wait_for(folder: Path, expected: list[int], process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + PATIENCE
    while landed(folder) != expected and time.monotonic() < until:
        assert process.poll() is None, process.communicate()
        time.sleep(0.2)
    assert landed(folder) == expected


@contextmanager
def following(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    process = started("run", "orders.json", "--follow", *words, cwd=folder)
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
        "load": {"sinkType": "DeltaLake", "connectionParams": {"path": "out"}},
        "writeMode": "Append",
        "spark": QUICK,
    }
    (tmp_path / "orders.json").write_text(json.dumps(file))
    return tmp_path


def test_a_followed_source_lands_as_it_grows_until_sigterm_and_goes_on_after_a_kill(pipeline: Path) -> None:
    add(pipeline, 1, 2)
    with following(pipeline) as first:
        wait_for(pipeline, [1, 2], first)
        add(pipeline, 3)
        wait_for(pipeline, [1, 2, 3], first)
        first.send_signal(signal.SIGKILL)

    add(pipeline, 4)
    with following(pipeline, "--every", "1s") as second:
        wait_for(pipeline, [1, 2, 3, 4], second)
        second.send_signal(signal.SIGTERM)
        out, err = second.communicate(timeout=PATIENCE)

    assert second.returncode == 0, err
    assert "1 batch" in out
    assert "Stopping after this batch" in err

    quiet = command("run", "orders.json", cwd=pipeline)
    assert quiet.returncode == 0
    assert "orders: nothing new since 20" in quiet.stdout
    assert "version 3" in quiet.stdout
    runs = json.loads(command("runs", "list", "--json", cwd=pipeline).stdout)
    assert sorted(run["status"] for run in runs) == ["interrupted", "succeeded", "succeeded"]


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
