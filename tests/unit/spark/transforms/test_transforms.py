from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from deltaworks.spark.statement import ROWS, other
from deltaworks.spark.transforms import AnyTransform, Transform
from deltaworks.spark.transforms.aggregation import Aggregate
from deltaworks.spark.transforms.join import Join
from deltaworks.spark.transforms.pivot import Pivot

COUNT = [{"column": "*", "function": "count"}]
PIVOTED = "count(*) as count by b, for each a of 1, true"


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
        (
            "aggregation",
            {"aggregations": COUNT, "having": "count > 1"},
            "count(*) as count by nothing, where count > 1",
        ),
        ("deduplicate", {}, "keep one of the rows that are the same"),
        ("deduplicate", {"keys": '["a", "b"]'}, "keep one row of each a, b"),
        ("deduplicate", {"keys": "a", "orderBy": ["b"], "keep": "first"}, "keep the first by b of each a"),
        ("explode", {"column": "a"}, "one row for each item of a"),
        ("explode", {"column": "a", "keepEmpty": True}, "one row for each item of a, or an empty one"),
        ("flatten", {}, "make columns of the fields of all structs"),
        ("flatten", {"columns": ["a"]}, "make columns of the fields of a"),
        ("join", {"input": "x", "on": ["a", "b"]}, "inner join with x on a, b"),
        ("join", {"input": "x", "condition": "a = x.b", "how": "left"}, "left join with x on a = x.b"),
        ("join", {"input": "x", "how": "cross"}, "cross join with x"),
        ("parseJson", {"column": "a", "schema": "b int"}, "parse a as b int"),
        ("parseJson", {"column": "a", "schema": "b int", "into": "c"}, "parse a as b int into c"),
        ("pivot", {"column": "a", "values": [1, True], "aggregations": COUNT, "groupBy": "b"}, PIVOTED),
        ("python", {"function": "a.b:c"}, "a.b:c(rows)"),
        ("python", {"function": "a.b", "arguments": '{"c": 1}'}, "a.b(rows, c=1)"),
        ("union", {"inputs": ["x", "y"]}, "add the rows of x, y"),
        ("union", {"inputs": '["x"]', "distinct": "true"}, "add the rows of x, each once"),
        ("window", {"columns": {"n": "row_number()"}}, "add n = row_number()"),
        (
            "window",
            {"columns": {"n": "row_number()"}, "partitionBy": "a", "orderBy": ["b DESC"]},
            "add n = row_number() by a in order of b DESC",
        ),
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
        ("aggregation", {"aggregations": [*COUNT, *COUNT]}),
        ("aggregation", {"groupBy": "Count", "aggregations": COUNT}),
        ("aggregation", {"aggregations": [{"column": "*", "function": "sum"}]}),
        ("aggregation", {"aggregations": [{"column": "a", "function": "first"}]}),
        ("aggregation", {"aggregations": [{"column": "a", "function": "sum", "orderBy": "b"}]}),
        ("aggregation", {"aggregations": [{"column": "a", "function": "percentile"}]}),
        ("aggregation", {"aggregations": [{"column": "a", "function": "percentile", "percentage": 95}]}),
        ("aggregation", {"aggregations": [{"column": "a", "function": "avg", "percentage": 0.5}]}),
        ("deduplicate", {"orderBy": "a"}),
        ("deduplicate", {"keys": []}),
        ("deduplicate", {"keys": "a", "keep": "any"}),
        ("explode", {}),
        ("explodeAll", {}),
        ("flatten", {"columns": []}),
        ("join", {"input": "x"}),
        ("join", {"on": "a"}),
        ("join", {"input": "x", "on": "a", "condition": "a = b"}),
        ("join", {"input": "x", "on": "a", "how": "cross"}),
        ("join", {"input": "x", "on": "a", "how": "outer"}),
        ("join", {"input": "x", "on": "a", "how": "semi", "columns": "b"}),
        ("join", {"input": "x", "on": "a", "how": "anti", "prefix": "x_"}),
        ("parseJson", {"column": "a"}),
        ("parseJson", {"column": "a", "schema": "b int", "onError": "skip"}),
        ("parseJson", {"column": "a", "schema": "b int", "onError": "fail", "corrupt": "c"}),
        ("parseJson", {"column": "a", "schema": "b int", "corrupt": "A"}),
        ("pivot", {"column": "a", "aggregations": COUNT}),
        ("pivot", {"column": "a", "values": [], "aggregations": COUNT}),
        ("pivot", {"column": "a", "values": [1, "1"], "aggregations": COUNT}),
        ("python", {"function": "run"}),
        ("python", {"function": "steps:"}),
        ("python", {"function": "steps.py:run it"}),
        ("python", {"function": "steps:run", "arguments": ["a"]}),
        ("union", {}),
        ("union", {"inputs": []}),
        ("window", {"columns": {}}),
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


def test_aggregations_over_an_order_let_no_null_win() -> None:
    found = step(
        "aggregation",
        aggregations=[
            {"column": "a", "function": "first", "orderBy": ["b"], "alias": "x"},
            {"column": "a", "function": "last", "orderBy": ["b", "c"], "alias": "y"},
        ],
        having="x > 1",
    )

    assert isinstance(found, Aggregate)
    assert found.to_sql() == (
        "SELECT min_by(`a`, struct(`b` IS NULL, `b`, CAST(`a` AS STRING))) AS `x`, "
        "max_by(`a`, struct(`b` IS NOT NULL, `b`, `c` IS NOT NULL, `c`, CAST(`a` AS STRING))) AS `y` "
        f"FROM {ROWS} HAVING x > 1"
    )


def test_a_pivot_is_one_select() -> None:
    counted = [{"column": "n", "function": "countDistinct"}]
    found = step("pivot", groupBy="k", column="c", values=["it's"], aggregations=counted)

    assert isinstance(found, Pivot)
    assert found.to_sql("string") == (
        "SELECT `k`, count(DISTINCT `n`) FILTER (WHERE `c` = CAST('it\\'s' AS string)) AS `it's` "
        f"FROM {ROWS} GROUP BY `k`"
    )


def test_a_join_is_one_select() -> None:
    found = step("join", input="x", on="id", how="full", prefix="x_", broadcast=True)

    assert isinstance(found, Join)
    assert found.to_sql(["id", "a"], ["ID", "a"]) == (
        "SELECT /*+ BROADCAST(`x`) */ coalesce(input.`id`, `x`.`id`) AS `id`, input.`a`, `x`.`a` AS `x_a` "
        f"FROM {ROWS} AS input FULL JOIN {other('x')} AS `x` ON input.`id` = `x`.`id`"
    )


@pytest.mark.parametrize(
    ("kind", "parameters", "uses"),
    [
        ("filter", {"condition": "a"}, ()),
        ("join", {"input": "x", "on": "a"}, ("x",)),
        ("union", {"inputs": ["x", "y"]}, ("x", "y")),
        ("sql", {"query": "SELECT 1", "inputs": ["x"]}, ("x",)),
    ],
)
def test_a_step_says_which_inputs_it_uses(kind: str, parameters: dict[str, Any], uses: tuple[str, ...]) -> None:
    assert step(kind, **parameters).uses == uses


@pytest.mark.parametrize(
    ("kind", "parameters", "repeats"),
    [
        ("filter", {"condition": "a > rand()"}, False),
        ("select", {"columns": ["a"]}, True),
        ("withColumn", {"name": "a", "expression": "b"}, True),
        ("rename", {"columns": {"a": "b"}}, True),
        ("cast", {"columns": {"a": "int"}}, True),
        ("dropColumns", {"columns": "a"}, True),
        ("flatten", {}, True),
        ("explode", {"column": "a"}, True),
        ("parseJson", {"column": "a", "schema": "array<int>"}, True),
        ("deduplicate", {}, False),
        ("python", {"function": "a:b"}, False),
    ],
)
def test_only_steps_over_one_row_can_be_asked_again(kind: str, parameters: dict[str, Any], repeats: bool) -> None:
    assert step(kind, **parameters).repeats is repeats


def test_the_folder_of_a_file_is_no_part_of_it() -> None:
    assert step("python", function="a:b").model_dump(by_alias=True) == {
        "type": "python",
        "perBatch": False,
        "function": "a:b",
        "arguments": {},
    }
