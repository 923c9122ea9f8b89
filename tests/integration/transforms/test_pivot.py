from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.rows import collected, frame
from tests.integration.transforms.applied import applied

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def sales(spark: SparkSession) -> DataFrame:
    return frame(
        spark,
        {"y": 2023, "c": "de", "n": 10},
        {"y": 2023, "c": "de", "n": 30},
        {"y": 2023, "c": "it's", "n": 7},
        {"y": 2024, "c": "fr", "n": 5},
    )


def test_values_become_columns(spark: SparkSession) -> None:
    total = [{"column": "n", "function": "sum"}]

    rows = applied(sales(spark), "pivot", groupBy="y", column="C", values=["de", "it's"], aggregations=total)

    assert collected(rows) == [{"y": 2023, "de": 40, "it's": 7}, {"y": 2024, "de": None, "it's": None}]


def test_several_aggregations_are_told_apart_by_their_alias(spark: SparkSession) -> None:
    aggregations = [{"column": "n", "function": "max", "alias": "most"}, {"column": "*", "function": "count"}]

    rows = applied(sales(spark), "pivot", column="y", values='[2023, "2024"]', aggregations=aggregations)

    assert collected(rows) == [{"2023_most": 30, "2023_count": 3, "2024_most": 5, "2024_count": 1}]


def test_every_function_works_for_each_value(spark: SparkSession) -> None:
    ordered = {"first", "last"}
    functions = [
        "count",
        "countDistinct",
        "sum",
        "avg",
        "min",
        "max",
        "first",
        "last",
        "collect",
        "stddev",
        "percentile",
    ]
    aggregations = [
        {"column": "n", "function": each, "alias": each}
        | ({"orderBy": "n"} if each in ordered else {})
        | ({"percentage": 0.5} if each == "percentile" else {})
        for each in functions
    ]

    rows = applied(sales(spark), "pivot", column="c", values=["fr", "xx"], aggregations=aggregations)

    (found,) = collected(rows)
    assert [found[f"fr_{each}"] for each in functions] == [1, 1, 5, 5.0, 5, 5, 5, 5, [5], None, 5.0]
    assert [found[f"xx_{each}"] for each in functions] == [0, 0, *[None] * 6, [], None, None]


def test_values_are_compared_as_the_type_of_the_column(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES (1.50BD, true), (2.00BD, false) AS t(d, b)")
    count = [{"column": "*", "function": "count"}]

    assert collected(applied(rows, "pivot", column="d", values=[1.5, "2"], aggregations=count)) == [{"1.5": 1, "2": 1}]
    assert collected(applied(rows, "pivot", column="b", values=[True], aggregations=count)) == [{"true": 1}]


def test_a_column_that_is_not_there_is_refused(spark: SparkSession) -> None:
    count = [{"column": "*", "function": "count"}]

    with pytest.raises(ConfigError, match="no column 'nope'"):
        applied(sales(spark), "pivot", column="nope", values=[1], aggregations=count)


def test_a_value_the_column_cannot_have_is_refused(spark: SparkSession) -> None:
    count = [{"column": "*", "function": "count"}]

    with pytest.raises(ConfigError, match="'de' is no value of column 'y', a bigint"):
        applied(sales(spark), "pivot", column="y", values=[2023, "de"], aggregations=count)
