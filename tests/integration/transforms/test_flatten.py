from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.rows import collected
from tests.integration.transforms.applied import applied

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


NESTED = "SELECT 1 AS id, named_struct('a', 2, 'in ner', named_struct('b.c', 3)) AS s, array(named_struct('d', 4)) AS l"


def test_fields_of_structs_become_columns_where_the_struct_was(spark: SparkSession) -> None:
    flat = applied(spark.sql(NESTED), "flatten")

    assert flat.columns == ["id", "s_a", "s_in ner_b.c", "l"]
    assert [tuple(row)[:3] for row in flat.collect()] == [(1, 2, 3)]


def test_only_the_chosen_structs_are_flattened(spark: SparkSession) -> None:
    rows = spark.sql("SELECT named_struct('x', 1) AS a, named_struct('x', 2) AS b")

    flat = applied(rows, "flatten", columns=["A"], separator=".")

    assert flat.columns == ["a.x", "b"]


def test_a_null_struct_has_null_fields(spark: SparkSession) -> None:
    rows = spark.sql("SELECT 1 AS id, CAST(NULL AS struct<a: int>) AS s")

    assert collected(applied(rows, "flatten")) == [{"id": 1, "s_a": None}]


def test_a_name_that_is_there_already_is_refused(spark: SparkSession) -> None:
    rows = spark.sql("SELECT 1 AS S_A, named_struct('a', 2) AS s")

    with pytest.raises(ConfigError, match="Two columns would be called 's_a'"):
        applied(rows, "flatten")


def test_a_column_that_is_no_struct_is_refused_with_its_type(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match="'l' is array<struct<d:int>>, not a struct"):
        applied(spark.sql(NESTED), "flatten", columns="l")


def test_a_column_that_is_not_there_is_refused(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match="no column 'nope'"):
        applied(spark.sql(NESTED), "flatten", columns="nope")
