from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.rows import collected, frame
from tests.integration.transforms.applied import applied, step

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_columns_and_expressions_come_in_the_order_given(spark: SparkSession) -> None:
    rows = frame(spark, {"id": 1, "n": 5})

    chosen = applied(rows, "select", columns=["n * 2 AS twice", "id"])

    assert chosen.columns == ["twice", "id"]
    assert collected(chosen) == [{"twice": 10, "id": 1}]


def test_the_columns_may_be_written_as_json_text() -> None:
    assert step("select", columns='["id", "n"]').describe() == "select id, n"
