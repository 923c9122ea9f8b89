from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.cli import plan
from deltaworks.lake.schema import Column
from deltaworks.pipeline.plan import Plan
from deltaworks.runs.result import Kept
from deltaworks.spark.sinks import WritePlan

if TYPE_CHECKING:
    import pytest


def test_a_plan_is_shown_whole(capsys: pytest.CaptureFixture[str]) -> None:
    columns = (Column("id", "bigint"), Column("[bold]", "string"))
    write = WritePlan(target="out", version=3, action="merge into out by id", columns=columns, statement="MERGE [/x]")

    plan._show(Plan(pipeline_id="orders", mode="Upsert", reads="in.csv", steps=("a", "b"), write=write))

    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["pipeline", "orders"],
        ["reads", "in.csv"],
        ["does", "a"],
        ["b"],
        ["writes", "merge", "into", "out", "by", "id"],
        ["target", "now", "at", "version", "3"],
        ["schema", "of", "the", "target", "after", "it"],
        ["column", "type"],
        ["id", "bigint"],
        ["[bold]", "string"],
        ["MERGE", "[/x]"],
    ]


def test_a_table_that_would_be_made_is_not_there_yet(capsys: pytest.CaptureFixture[str]) -> None:
    write = WritePlan(target="out", version=None, action="create out", columns=())

    plan._show(Plan(pipeline_id="orders", mode="Append", reads="in.csv", steps=(), write=write))

    assert "not there yet" in capsys.readouterr().out


def test_a_plan_tells_what_a_look_at_the_rows_told(capsys: pytest.CaptureFixture[str]) -> None:
    notes = ("the rows lack x", "amount becomes bigint; it was int")
    write = WritePlan(target="out", version=3, action="merge", columns=(), files_before=1200, files_read=1, notes=notes)
    found = Plan(
        pipeline_id="orders",
        mode="Upsert",
        reads="in.csv",
        steps=(),
        write=write,
        rows=1234,
        after=("optimize", "vacuum"),
    )

    plan._show(found, (Kept("positive", "setAside", 3),))

    lines = capsys.readouterr().out.splitlines()
    assert lines[2:-2] == [
        "rows      1,234",
        "rules     positive: 3 rows, would be set aside",
        "writes    merge",
        "target    now at version 3",
        "files     at most 1 of 1,200 files would be read and rewritten",
        "note      the rows lack x",
        "          amount becomes bigint; it was int",
        "then      optimize",
        "          vacuum",
    ]


def test_files_are_told_only_where_rows_are_merged(capsys: pytest.CaptureFixture[str]) -> None:
    write = WritePlan(target="out", version=3, action="append", columns=(), files_before=12, files_read=12)

    plan._show(Plan(pipeline_id="orders", mode="Append", reads="in.csv", steps=(), write=write))

    assert "files" not in capsys.readouterr().out
