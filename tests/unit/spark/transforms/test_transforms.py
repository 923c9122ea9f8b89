from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from deltaworks.spark.statement import ROWS
from deltaworks.spark.transforms import AnyTransform, Transform
from deltaworks.spark.transforms.aggregation import Aggregate


def step(kind: str, **parameters: Any) -> Transform:
    found: Transform = TypeAdapter(AnyTransform).validate_python({"type": kind, "parameters": parameters})
    return found


@pytest.mark.parametrize(
    ("kind", "parameters", "expected"),
    [
        ("filter", {"condition": "a > 1"}, "keep rows where a > 1"),
        ("select", {"columns": ["a", "b AS c"]}, "select a, b AS c"),
        ("select", {"columns": '["a"]'}, "select a"),
        ("rename", {"columns": {"a": "b", "c": "d"}}, "rename a to b, c to d"),
        ("rename", {"columns": '{"a": "b"}'}, "rename a to b"),
        ("cast", {"columns": {"a": "decimal(10,2)"}}, "cast a to decimal(10,2)"),
        ("withColumn", {"name": "a", "expression": "b + 1"}, "add a = b + 1"),
        ("dropColumns", {"columns": "a"}, "drop a"),
        ("sql", {"query": "SELECT *\n  FROM input"}, "SELECT * FROM input"),
        (
            "aggregation",
            {"groupBy": "a", "aggregations": [{"column": "b", "function": "sum"}]},
            "sum(b) as sum_b by a",
        ),
        ("aggregation", {"aggregations": [{"column": "*", "function": "count"}]}, "count(*) as count by nothing"),
    ],
)
def test_a_step_says_in_one_line_what_it_does(kind: str, parameters: dict[str, Any], expected: str) -> None:
    assert step(kind, **parameters).describe() == expected


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("filter", {}),
        ("filter", {"condition": True}),
        ("select", {"columns": []}),
        ("select", {"columns": "a"}),
        ("rename", {"columns": {}}),
        ("rename", {"columns": ["a"]}),
        ("cast", {"columns": {"a": 5}}),
        ("withColumn", {"name": "a"}),
        ("dropColumns", {"columns": []}),
        ("sql", {"statement": "SELECT 1"}),
        ("aggregation", {"groupBy": "a"}),
        ("aggregation", {"aggregations": []}),
        ("aggregation", {"aggregations": [{"column": "a", "function": "median"}]}),
        ("aggregation", {"aggregations": [{"column": "a", "function": "sum", "as": "b"}]}),
        ("aggregation", {"groupBy": "a,b", "aggregations": [{"column": "c", "function": "sum"}]}),
        ("explodeAll", {}),
    ],
)
def test_a_step_that_cannot_be_is_refused(kind: str, parameters: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        step(kind, **parameters)


def test_an_aggregation_is_one_select() -> None:
    found = step(
        "aggregation",
        groupBy=["country", "a`b"],
        aggregations=[
            {"column": "*", "function": "count", "alias": "orders"},
            {"column": "customer", "function": "countDistinct"},
            {"column": "amount", "function": "avg", "alias": "the mean"},
        ],
    )

    assert isinstance(found, Aggregate)
    assert found.to_sql() == (
        "SELECT `country`, `a``b`, count(*) AS `orders`, count(DISTINCT `customer`) AS `countDistinct_customer`, "
        f"avg(`amount`) AS `the mean` FROM {ROWS} GROUP BY `country`, `a``b`"
    )


def test_an_aggregation_without_groups_is_one_row() -> None:
    found = step("aggregation", aggregations=[{"column": "a", "function": "max"}])

    assert isinstance(found, Aggregate)
    assert found.to_sql() == f"SELECT max(`a`) AS `max_a` FROM {ROWS}"
