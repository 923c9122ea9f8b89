from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.rows import collected, frame
from tests.integration.transforms.applied import applied, step

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_new_column_comes_last(spark: SparkSession) -> None:
    rows = applied(frame(spark, {"id": 1, "n": 5}), "withColumn", name="twice", expression="n * 2")

    assert rows.columns == ["id", "n", "twice"]
    assert collected(rows) == [{"id": 1, "n": 5, "twice": 10}]


def test_a_column_of_that_name_is_replaced_in_its_place(spark: SparkSession) -> None:
    rows = applied(frame(spark, {"id": 1, "n": 5}), "withColumn", name="ID", expression="id + 1")

    assert collected(rows) == [{"ID": 2, "n": 5}]


def test_it_says_name_and_expression() -> None:
    assert step("withColumn", name="x", expression="1").describe() == "add x = 1"
