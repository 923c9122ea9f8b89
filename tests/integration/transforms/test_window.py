from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import collected, frame
from tests.integration.transforms.applied import applied

from deltaworks.errors import ConfigError
from deltaworks.spark.errors import explained

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def sales(spark: SparkSession) -> DataFrame:
    return frame(
        spark,
        {"c": "de", "the day": 1, "n": 10},
        {"c": "de", "the day": 2, "n": 30},
        {"c": "fr", "the day": 1, "n": 5},
    )


def test_ranks_and_running_totals_are_added(spark: SparkSession) -> None:
    columns = {"nth": "row_number()", "so far": "sum(n)", "before": "lag(n)"}

    rows = applied(sales(spark), "window", partitionBy="c", orderBy=["THE day"], columns=columns)

    assert rows.columns == ["c", "the day", "n", "nth", "so far", "before"]
    assert [(row["nth"], row["so far"], row["before"]) for row in collected(rows)] == [
        (1, 10, None),
        (2, 40, 10),
        (1, 5, None),
    ]


@pytest.mark.parametrize("order", ["the day DESC", "the day desc nulls last", "-`the day`"])
def test_the_order_may_be_turned_round(spark: SparkSession, order: str) -> None:
    rows = applied(sales(spark), "window", partitionBy=["c"], orderBy=[order, "n"], columns='{"nth": "row_number()"}')

    assert [row["nth"] for row in collected(rows)] == [2, 1, 1]


def test_an_expression_may_say_where_the_window_belongs(spark: SparkSession) -> None:
    columns = {"n": "n / sum(n) OVER w", "all": "count(*) OVER ()"}

    rows = applied(sales(spark), "window", partitionBy="c", columns=columns)

    assert [(row["n"], row["all"]) for row in collected(rows)] == [(0.25, 3), (0.75, 3), (1.0, 3)]


def test_a_frame_says_which_rows_count(spark: SparkSession) -> None:
    frame_sql = "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"

    rows = applied(sales(spark), "window", partitionBy="c", orderBy="the day", frame=frame_sql, columns={"x": "sum(n)"})

    assert [row["x"] for row in collected(rows)] == [40, 30, 5]


@pytest.mark.parametrize(
    "wrong", [{"partitionBy": "nope"}, {"orderBy": "nope"}, {"orderBy": "nope DESC"}, {"columns": {"x": "sum(nope)"}}]
)
def test_a_column_that_is_not_there_is_refused(spark: SparkSession, wrong: dict[str, Any]) -> None:
    rows = sales(spark)
    parameters = {"columns": {"x": "row_number()"}, "orderBy": "n"} | wrong

    with pytest.raises(ConfigError, match="no column 'nope'"), explained("transform[0] window", rows.columns):
        applied(rows, "window", **parameters)


def test_two_columns_of_one_name_are_refused(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match="Two columns would be called 'X'"):
        applied(sales(spark), "window", columns={"x": "sum(n)", "X": "count(*)"})


@pytest.mark.parametrize("wrong", [{"columns": {"x": "n + 1"}}, {"frame": "BETWEEN 1 AND 2"}])
def test_what_is_no_window_is_refused_with_how_to_write_one(spark: SparkSession, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="This is no window: add x = ") as caught:
        applied(sales(spark), "window", **({"columns": {"x": "sum(n)"}} | wrong))

    assert "OVER w" in caught.value.hint
