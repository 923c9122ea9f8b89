from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.cli import plan
from deltaworks.lake.schema import Column
from deltaworks.pipeline.plan import Plan
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
