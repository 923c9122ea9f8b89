from __future__ import annotations

import json

from deltaworks.lake.schema import Column
from deltaworks.pipeline.plan import Plan
from deltaworks.spark.sinks import WritePlan


def test_a_plan_is_plain_json() -> None:
    write = WritePlan(target="out", version=None, action="create out", columns=(Column("id", "bigint"),))
    plan = Plan(pipeline_id="orders", mode="Append", reads="csv files in.csv", steps=("filter: x",), write=write)

    assert json.loads(json.dumps(plan.to_dict())) == {
        "pipeline_id": "orders",
        "mode": "Append",
        "reads": "csv files in.csv",
        "inputs": {},
        "rows": None,
        "broken": {},
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
