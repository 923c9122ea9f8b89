from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.pipeline.files import config, pipeline

from deltaworks.lake.schema import Column
from deltaworks.pipeline.plan import Plan, asked_after
from deltaworks.spark.sinks import WritePlan


def test_a_plan_is_plain_json() -> None:
    write = WritePlan(target="out", version=None, action="create out", columns=(Column("id", "bigint"),))
    plan = Plan(pipeline_id="orders", mode="Append", reads="csv files in.csv", steps=("filter: x",), write=write)

    assert json.loads(json.dumps(plan.to_dict())) == {
        "pipeline_id": "orders",
        "mode": "Append",
        "reads": "csv files in.csv",
        "inputs": {},
        "notes": [],
        "parts": [],
        "rows": None,
        "broken": {},
        "after": [],
        "steps": ["filter: x"],
        "write": {
            "target": "out",
            "version": None,
            "action": "create out",
            "columns": [{"name": "id", "type": "bigint", "nullable": True, "made": False}],
            "statement": None,
            "files_before": None,
            "files_read": None,
            "notes": [],
        },
    }


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({}, ()),
        ({"optimize": True}, ("optimize",)),
        ({"optimize": True, "zOrderColumns": ["a", "b"]}, ("optimize, rows put together by a, b",)),
        (
            {"optimize": True, "vacuumRetentionHours": 1000},
            ("optimize", "vacuum, but keep what the last 1,000 hours need"),
        ),
    ],
)
def test_a_plan_says_what_is_asked_for_after_the_load(after: dict[str, Any], said: tuple[str, ...]) -> None:
    assert asked_after(config(pipeline(load__after=after)).load) == said


def test_nothing_is_done_to_files_after_the_load() -> None:
    sink = {"sinkType": "File", "connectionParams": {"path": "out", "format": "csv"}}

    assert asked_after(config(pipeline(load=sink)).load) == ()
