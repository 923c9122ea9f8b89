from __future__ import annotations

from typing import TYPE_CHECKING

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
