from __future__ import annotations

import json
import re
from typing import Any

import pytest

from deltaworks.cli.preview import cell, print_preview
from deltaworks.lake.schema import Column
from deltaworks.pipeline.plan import Plan
from deltaworks.pipeline.preview import Preview, StepRows
from deltaworks.runs.result import Kept
from deltaworks.spark.sinks import WritePlan

WRITE = WritePlan(target="out", version=3, action="merge into out by id", columns=(), files_before=50, files_read=3)
PLAN = Plan(pipeline_id="orders", mode="Upsert", reads="in.csv", steps=(), write=WRITE, rows=7, after=("optimize",))
READ = StepRows(
    title="extract",
    columns=(Column("id", "int"), Column("[bold]", "struct<a: string>")),
    rows=((1_000_000, {"a": "x"}), (None, None)),
)
NONE = StepRows(title="transform[0] filter", columns=READ.columns, rows=())
RULES = (Kept("positive", "drop", 2), Kept("known", "fail", 1), Kept("named", "setAside", 0))
SEEN = Preview(plan=PLAN, limit=10, steps=(READ, NONE), expectations=RULES, null_keys=1, repeated_keys=2)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "NULL"),
        ("NULL", '"NULL"'),
        ("null", "null"),
        ("-", "-"),
        ("", '""'),
        (" a", '" a"'),
        ('"a"', '"\\"a\\""'),
        ("a\nb", '"a\\nb"'),
        ("été\u202e\x1b[31m", '"été\\u202e\\u001b[31m"'),
        ("x" * 41, "x" * 39 + "…"),
        ("日" * 21, "日" * 19 + " …"),  # each is two columns wide
        (1_000_000, "1000000"),
        (True, "true"),
        (0.1, "0.1"),
        ({"a": [1, None, "é\n"]}, '{"a": [1, null, "é\\n"]}'),
    ],
)
def test_a_value_cannot_be_taken_for_another(value: Any, shown: str) -> None:
    assert cell(value) == shown


def test_every_step_is_shown_then_what_would_follow(capsys: pytest.CaptureFixture[str]) -> None:
    print_preview(SEEN)

    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "orders: up to 10 rows after each step; nothing is written",
        "",
        "extract",
        "     id  [bold]",
        "    int  struct<a: strin…",
        '1000000  {"a": "x"}',
        "   NULL  NULL",
        "",
        "transform[0] filter: no rows",
        "id   [bold]",
        "int  struct<a: strin…",
        "",
        "rows    7",
        "rules   positive: 2 rows, would be dropped",
        "        known: 1 row, the run would fail",
        "        named: all rows keep it",
        "writes  merge into out by id",
        "target  now at version 3",
        "files   at most 3 of 50 files would be read and rewritten",
        "then    optimize",
        "keys    1 row with a null in mergeKeys",
        "        2 keys that several rows have",
        "",
    ]


def test_a_narrow_terminal_gets_a_line_a_value(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "xterm")

    print_preview(SEEN)

    lines = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out).splitlines()
    assert lines[3:6] == ["id int                   1000000", '[bold] struct<a: strin…  {"a": "x"}', ""]


def test_a_preview_is_plain_json() -> None:
    found = json.loads(json.dumps(SEEN.to_dict()))

    assert (found["pipeline_id"], found["limit"], found["plan"]["rows"]) == ("orders", 10, 7)
    assert found["steps"][0]["rows"] == [[1_000_000, {"a": "x"}], [None, None]]
    assert found["steps"][0]["columns"][0]["type"] == "int"
    assert found["expectations"][0] == {"name": "positive", "on_failure": "drop", "broken": 2}
