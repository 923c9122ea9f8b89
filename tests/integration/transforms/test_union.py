from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.rows import collected, frame
from tests.integration.transforms.applied import applied

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_rows_are_added_by_the_names_of_their_columns(spark: SparkSession) -> None:
    rows, more = frame(spark, {"id": 1, "n": "a"}), frame(spark, {"N": "b", "id": 2})

    both = applied(rows, "union", {"more": more}, inputs='["more"]')

    assert collected(both) == [{"id": 1, "n": "a"}, {"id": 2, "n": "b"}]


def test_several_inputs_are_added_and_doubles_stay_unless_told(spark: SparkSession) -> None:
    rows = frame(spark, {"id": 1})
    inputs = {"a": frame(spark, {"id": 1}), "b": frame(spark, {"id": 2})}

    assert applied(rows, "union", inputs, inputs=["a", "b"]).count() == 3
    assert collected(applied(rows, "union", inputs, inputs=["a", "b"], distinct=True)) == [{"id": 1}, {"id": 2}]


def test_a_column_missing_on_one_side_is_refused_unless_it_may_be_null(spark: SparkSession) -> None:
    rows, inputs = frame(spark, {"id": 1, "a": 1}), {"more": frame(spark, {"id": 2, "b": 2})}

    with pytest.raises(ConfigError, match="'more' has no column 'a' and the rows have no column 'b'") as caught:
        applied(rows, "union", inputs, inputs=["more"])
    both = applied(rows, "union", inputs, inputs=["more"], allowMissing="true")

    assert "allowMissing" in caught.value.hint
    assert collected(both) == [{"id": 1, "a": 1, "b": None}, {"id": 2, "a": None, "b": 2}]


def test_the_rows_may_lack_a_column_too(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match=r"^The rows have no column 'b'\.$"):
        applied(frame(spark, {"id": 1}), "union", {"more": frame(spark, {"id": 2, "b": 2})}, inputs=["more"])


def test_numbers_become_the_wider_type(spark: SparkSession) -> None:
    rows = spark.sql("SELECT 1 AS id, array(1) AS a, map('k', 1) AS m, struct(1 AS x) AS s, NULL AS nothing")
    more = spark.sql("SELECT 2L AS id, array(2L) AS a, map('k', 2L) AS m, struct(2L AS x) AS s, 'x' AS nothing")

    assert dict(applied(rows, "union", {"more": more}, inputs=["more"]).dtypes) == dict(more.dtypes)


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        ("1", "'x'", "'v' is int in the rows and string in 'more'"),
        ("date'2024-01-01'", "timestamp'2024-01-01 00:00:00'", "date in the rows and timestamp"),
        ("array(1)", "array('x')", "array<int> in the rows and array<string>"),
        ("struct(1 AS a)", "struct('x' AS a)", "struct<a:int> in the rows and struct<a:string>"),
        ("map(1, 1)", "map('x', 1)", "map<int,int> in the rows and map<string,int>"),
    ],
)
def test_other_types_that_differ_are_refused_with_both(spark: SparkSession, ours: str, theirs: str, said: str) -> None:
    inputs = {"more": spark.sql(f"SELECT {theirs} AS v")}

    with pytest.raises(ConfigError, match=said):
        applied(spark.sql(f"SELECT {ours} AS v"), "union", inputs, inputs=["more"])
