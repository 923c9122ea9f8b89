from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import collected, frame
from tests.integration.transforms.applied import applied, step

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_groups_become_one_row_each(spark: SparkSession) -> None:
    rows = frame(spark, {"c": "de", "n": 1}, {"c": "de", "n": 3}, {"c": "fr", "n": 5})

    totals = applied(
        rows,
        "aggregation",
        groupBy='["c"]',
        aggregations='[{"column": "n", "function": "sum", "alias": "total"}, {"column": "*", "function": "count"}]',
    )

    assert collected(totals) == [{"c": "de", "total": 4, "count": 2}, {"c": "fr", "total": 5, "count": 1}]


@pytest.mark.parametrize(
    ("function", "value"), [("count", 2), ("countDistinct", 1), ("sum", 4), ("avg", 2.0), ("min", 2), ("max", 2)]
)
def test_each_function_works_over_all_rows(spark: SparkSession, function: str, value: float) -> None:
    rows = frame(spark, {"n": 2}, {"n": 2}, {"n": None}, schema="n int")

    total = applied(rows, "aggregation", aggregations=[{"column": "n", "function": function}])

    assert collected(total) == [{f"{function}_n": value}]


@pytest.mark.parametrize(
    ("parameters", "value"),
    [
        ({"function": "first", "orderBy": "at"}, None),
        ({"function": "last", "orderBy": ["at"]}, 6),
        ({"function": "collect"}, [2, 4, 6]),
        ({"function": "collect", "orderBy": "AT"}, [2, 6, 4]),
        ({"function": "stddev"}, 2.0),
        ({"function": "percentile", "percentage": 0.25}, 3.0),
        ({"function": "percentile", "percentage": "1"}, 6.0),
    ],
)
def test_functions_that_need_more_than_a_column(spark: SparkSession, parameters: dict[str, Any], value: Any) -> None:
    rows = frame(spark, {"n": 4, "at": None}, {"n": None, "at": 1}, {"n": 6, "at": 3}, {"n": 2, "at": 2})

    found = applied(rows, "aggregation", aggregations=[{"column": "n", "alias": "x", **parameters}])

    assert collected(found) == [{"x": value}]


def test_first_and_last_agree_however_the_rows_arrive(spark: SparkSession) -> None:
    rows = spark.sql("SELECT 1 AS at, map('k', i) AS m FROM range(20) AS t(i)")
    aggregations = [{"column": "m", "function": each, "orderBy": "at"} for each in ("first", "last")]

    one = applied(rows.repartition(4), "aggregation", aggregations=aggregations)
    other = applied(rows.orderBy("m.k", ascending=False).coalesce(1), "aggregation", aggregations=aggregations)

    assert collected(one) == collected(other)


@pytest.mark.parametrize("having", ["count(*) > 1", "total > 5 AND c <> 'fr'", "total = max(n) + 1"])
def test_groups_can_be_kept_by_a_condition(spark: SparkSession, having: str) -> None:
    rows = frame(spark, {"c": "de", "n": 5}, {"c": "de", "n": 1}, {"c": "fr", "n": 9})
    total = [{"column": "n", "function": "sum", "alias": "total"}]

    kept = applied(rows, "aggregation", groupBy="c", aggregations=total, having=having)

    assert collected(kept) == [{"c": "de", "total": 6}]


def test_a_condition_on_a_column_that_is_not_there_says_which_are(spark: SparkSession) -> None:
    rows = frame(spark, {"c": "de", "n": 5})

    with pytest.raises(ConfigError, match="having nope > 1: There is no column 'nope'") as caught:
        applied(rows, "aggregation", groupBy="c", aggregations=[{"column": "n", "function": "sum"}], having="nope > 1")

    assert caught.value.hint == "Columns there: c, sum_n."


def test_names_with_braces_and_backticks_are_only_names(spark: SparkSession) -> None:
    rows = frame(spark, {"a`{b}": 1, "n": 2})

    total = applied(rows, "aggregation", groupBy=["a`{b}"], aggregations=[{"column": "n", "function": "sum"}])

    assert collected(total) == [{"a`{b}": 1, "sum_n": 2}]


def test_a_column_that_is_not_there_is_refused(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match="no column 'nope'"):
        applied(frame(spark, {"n": 1}), "aggregation", aggregations=[{"column": "nope", "function": "sum"}])


def test_it_says_groups_and_numbers() -> None:
    sums = [{"column": "n", "function": "sum"}]

    assert step("aggregation", groupBy="c", aggregations=sums).describe() == "sum(n) as sum_n by c"
    assert step("aggregation", aggregations=sums).describe() == "sum(n) as sum_n by nothing"
