from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.rows import collected, frame
from tests.integration.transforms.applied import applied, step

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_only_rows_for_which_the_condition_is_true_are_kept(spark: SparkSession) -> None:
    rows = frame(spark, {"id": 1, "n": 5}, {"id": 2, "n": None}, {"id": 3, "n": 1}, schema="id int, n int")

    kept = applied(rows, "filter", condition="n > 2")

    assert collected(kept) == [{"id": 1, "n": 5}]


def test_it_says_what_it_keeps() -> None:
    assert step("filter", condition="n > 2").describe() == "keep rows where n > 2"
