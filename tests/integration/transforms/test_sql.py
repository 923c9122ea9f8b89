from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.rows import collected, frame
from tests.integration.transforms.applied import applied, step

from deltaworks.errors import ConfigError
from deltaworks.spark.errors import explained

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_query_sees_the_rows_as_input(spark: SparkSession) -> None:
    rows = frame(spark, {"id": 1, "n": 5}, {"id": 2, "n": 7})

    found = applied(rows, "sql", query="SELECT max(n) AS most FROM input")

    assert collected(found) == [{"most": 7}]


def test_a_query_may_have_its_own_with_and_braces(spark: SparkSession) -> None:
    rows = frame(spark, {"id": 1, "name": "{x}"})

    found = applied(rows, "sql", query="WITH named AS (SELECT * FROM input WHERE name = '{x}') SELECT id FROM named")

    assert collected(found) == [{"id": 1}]


def test_two_queries_in_a_row_each_see_their_own_input(spark: SparkSession) -> None:
    first = applied(frame(spark, {"n": 1}), "sql", query="SELECT n + 1 AS n FROM input")

    second = applied(first, "sql", query="SELECT n * 10 AS n FROM input")

    assert collected(second) == [{"n": 20}]


def test_a_query_sees_the_inputs_it_lists(spark: SparkSession) -> None:
    inputs = {"rows": frame(spark, {"id": 1, "x": 5}), "args": frame(spark, {"y": 7})}
    query = "SELECT id, x, y FROM input JOIN rows USING (id) CROSS JOIN args"

    found = applied(frame(spark, {"id": 1}, {"id": 2}), "sql", inputs, inputs='["rows", "args"]', query=query)

    assert collected(found) == [{"id": 1, "x": 5, "y": 7}]


def test_an_input_that_was_not_listed_is_refused_with_the_line_to_add(spark: SparkSession) -> None:
    inputs = {"more": frame(spark, {"id": 1})}

    with pytest.raises(ConfigError, match="names 'more', which its `inputs` do not list") as caught:
        applied(frame(spark, {"id": 1}), "sql", inputs, query="SELECT * FROM input, more")

    assert caught.value.hint == "Add it: inputs: [more]."


def test_another_mistake_in_a_query_is_told_as_spark_tells_it(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match="`more` cannot be found"), explained("transform[0] sql"):
        applied(frame(spark, {"id": 1}), "sql", query="SELECT * FROM more")


def test_it_says_the_query_on_one_line() -> None:
    assert step("sql", query="SELECT *\n  FROM input").describe() == "SELECT * FROM input"
