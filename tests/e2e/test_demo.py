"""`deltaworks demo` as a user runs it: the whole million, stopped once, then run twice."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import pytest

import deltaworks as dw
from tests.e2e.commands import deltaworks, started
from tests.e2e.terminal import Terminal

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from pyspark.sql import SparkSession

NAMES = ("read", "inserted", "updated", "deleted", "version")


@dataclass(frozen=True, slots=True)
class Said:
    """What one demo left behind."""

    code: int
    out: str
    err: str
    commits: dict[str, int]  # by table

    def numbers(self, pipeline: str) -> dict[str, int | None]:
        """The small table that was printed for a pipeline."""
        found = re.search(rf"^{pipeline} *\n *read .*\n(.*)$", self.out, re.MULTILINE)
        assert found, self.out
        cells = [cell.replace(",", "") for cell in found[1].split()]
        return {name: None if cell == "-" else int(cell) for name, cell in zip(NAMES, cells[:5], strict=True)}


@dataclass(frozen=True)
class Demos:
    """One folder, and the demos that ran in it."""

    folder: Path
    stopped: Said
    first: Said
    second: Said

    def table(self, name: str, version: int | None = None) -> dw.Table:
        return dw.open_table(self.folder / "tables" / name, version=version)

    @cached_property
    def orders(self) -> pa.Table:
        return read(self.folder / "data/orders.csv")

    @cached_property
    def expected(self) -> Expected:
        return Expected.of(self.orders, read(self.folder / "data/changes.csv"))


@dataclass(frozen=True, slots=True)
class Expected:
    """What the change file must do, worked out from the two files alone."""

    changes: pa.Table
    inserted: pa.Table
    updated: pa.Table
    deleted: list[int]

    @classmethod
    def of(cls, orders: pa.Table, changes: pa.Table) -> Expected:
        there = orders.select(["order_id", "updated_at"]).rename_columns(["order_id", "there"])
        pairs = changes.join(there, "order_id", join_type="left outer")
        known, cancelled = pc.is_valid(pairs["there"]), pc.equal(pairs["status"], "cancelled")
        newer = pc.and_(pc.and_not(known, cancelled), pc.greater(pairs["updated_at"], pairs["there"]))
        return cls(
            changes,
            pairs.filter(pc.invert(pc.or_(known, cancelled))).drop_columns("there"),
            pairs.filter(newer).drop_columns("there"),
            pairs.filter(pc.and_(known, cancelled))["order_id"].to_pylist(),
        )

    def after(self, orders: pa.Table) -> pa.Table:
        gone = pa.array([*self.deleted, *self.updated["order_id"].to_pylist()])
        kept = orders.filter(pc.invert(pc.is_in(orders["order_id"], gone)))
        return pa.concat_tables([kept, self.updated, self.inserted]).sort_by("order_id")


TYPES = {
    "order_id": pa.int64(),
    "customer_id": pa.int64(),
    "country": pa.string(),
    "amount": pa.decimal128(10, 2),
    "status": pa.string(),
    "order_date": pa.date32(),
    "updated_at": pa.timestamp("us", "UTC"),
}


def read(path: Path) -> pa.Table:
    types = {**TYPES, "updated_at": pa.timestamp("us")}
    return pa.csv.read_csv(path, convert_options=pa.csv.ConvertOptions(column_types=types)).cast(pa.schema(TYPES))


def sorted_rows(table: dw.Table) -> pa.Table:
    return table.to_arrow().select(list(TYPES)).cast(pa.schema(TYPES)).sort_by("order_id")


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> Demos:
    folder = tmp_path_factory.mktemp("a shop") / "demo"
    return Demos(folder, stop(folder), ran(folder), ran(folder))


def ran(folder: Path) -> Said:
    return said(deltaworks("demo", "--dir", folder.name, cwd=folder.parent), folder)


def stop(folder: Path) -> Said:
    """Press Ctrl-C in the middle of the first load."""
    process = started("demo", "--dir", folder.name, cwd=folder.parent)
    assert process.stderr is not None
    before = next(line for line in process.stderr if "orders: loading" in line)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    done = Stopped(process.returncode, out, before + err)
    return said(done, folder)


@dataclass(frozen=True, slots=True)
class Stopped:
    returncode: int
    stdout: str
    stderr: str


def said(done: Stopped | subprocess.CompletedProcess[str], folder: Path) -> Said:
    commits = {log.parent.name: len(list(log.glob("*.json"))) for log in folder.glob("tables/*/_delta_log")}
    return Said(done.returncode, done.stdout, done.stderr, commits)


def test_a_stopped_demo_says_so_and_lands_nothing(demos: Demos) -> None:
    assert demos.stopped.code == 130
    assert demos.stopped.err.splitlines()[1].startswith("Error: The run was stopped")
    assert demos.stopped.err.splitlines()[2].startswith("Hint: Run it again")
    assert "Traceback" not in demos.stopped.err
    assert sum(demos.stopped.commits.values()) == 0


def test_the_demo_goes_on_after_it_was_stopped(demos: Demos) -> None:
    assert demos.first.code == 0, demos.first.err
    assert demos.first.commits == {"orders": 2, "order_feed": 1}


def test_the_numbers_shown_are_what_the_files_say(demos: Demos) -> None:
    expected = demos.expected
    inserted, updated, deleted = expected.inserted.num_rows, expected.updated.num_rows, len(expected.deleted)
    rows = demos.orders.num_rows

    assert rows == 1_000_000
    assert demos.first.numbers("orders") == numbers(read=rows, inserted=rows)
    assert demos.first.numbers("order-changes") == numbers(
        read=expected.changes.num_rows, inserted=inserted, updated=updated, deleted=deleted, version=1
    )
    told = inserted + updated + deleted
    assert demos.first.numbers("order-feed") == numbers(read=told, inserted=told)


def numbers(**given: Any) -> dict[str, int]:
    return {**dict.fromkeys(NAMES, 0), **given}


def test_every_kind_of_change_took_part(demos: Demos) -> None:
    expected = demos.expected
    used = expected.inserted.num_rows + expected.updated.num_rows + len(expected.deleted)

    assert min(expected.inserted.num_rows, expected.updated.num_rows, len(expected.deleted)) > 5_000
    assert expected.changes.num_rows - used > 5_000  # old news, and the unknown order


def test_the_table_holds_the_orders_and_then_the_changes(demos: Demos) -> None:
    assert sorted_rows(demos.table("orders", version=0)) == demos.orders
    assert sorted_rows(demos.table("orders", version=1)) == demos.expected.after(demos.orders)
    assert demos.table("orders").partition_columns == ("order_date",)


def test_the_feed_tells_every_change_once(demos: Demos) -> None:
    feed = demos.table("order_feed").to_arrow()
    expected = demos.expected

    assert sorted(zip(feed["change"].to_pylist(), feed["order_id"].to_pylist(), strict=True)) == sorted(
        [
            *(("insert", order) for order in expected.inserted["order_id"].to_pylist()),
            *(("update_postimage", order) for order in expected.updated["order_id"].to_pylist()),
            *(("delete", order) for order in expected.deleted),
        ]
    )
    assert set(feed["table_version"].to_pylist()) == {1}


def test_the_report_is_about_the_orders_before_the_changes(demos: Demos) -> None:
    report = pa.parquet.read_table(demos.folder / "reports/revenue")
    groups = demos.orders.group_by(["country", "order_date"]).aggregate([("amount", "sum"), ("amount", "max")])

    assert demos.first.numbers("revenue-report") == numbers(
        read=demos.orders.num_rows, inserted=groups.num_rows, version=None
    )
    assert pc.sum(report["orders"]).as_py() == demos.orders.num_rows
    assert pc.sum(report["revenue"]).as_py() == pc.sum(demos.orders["amount"]).as_py()
    assert pc.max(report["largest"]).as_py() == pc.max(demos.orders["amount"]).as_py()


def test_a_second_demo_says_so_and_lands_nothing_twice(demos: Demos) -> None:
    assert demos.second.code == 0, demos.second.err
    for pipeline, version in {"orders": 0, "order-changes": 1, "order-feed": 0}.items():
        assert f"{pipeline}: already landed as version {version}" in demos.second.out
    assert "nothing landed twice" in demos.second.out
    assert demos.second.commits == demos.first.commits
    assert demos.second.numbers("revenue-report") == demos.first.numbers("revenue-report")


def test_a_redirected_demo_prints_plain_lines(demos: Demos) -> None:
    assert "\x1b" not in demos.first.out + demos.first.err
    assert demos.first.err.count("\n") < 30


def test_the_demo_says_where_everything_is(demos: Demos) -> None:
    for place in ("tables/orders", "tables/order_feed", "reports/revenue", "runs"):
        assert re.search(rf" demo/{place}$", demos.first.out, re.MULTILINE)
        assert (demos.folder / place).is_dir()


def test_the_commands_to_try_next_work(demos: Demos, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(demos.folder.parent, spark, monkeypatch)
    lines = demos.first.out.partition("Try next:\n")[2].splitlines()
    history, runs, plan = (terminal.type(line.strip()) for line in lines)

    assert "MERGE" in history
    assert runs.count("succeeded") == 8
    assert runs.count("interrupted") == 1
    assert "now at version 1" in plan


def test_a_folder_that_cannot_be_written_is_two_lines(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    done = deltaworks("demo", "--dir", "file", cwd=tmp_path)

    assert done.returncode == 3
    error, hint = done.stderr.splitlines()
    assert error == "Error: file cannot be written: Not a directory."
    assert hint.startswith("Hint: Choose another folder")
