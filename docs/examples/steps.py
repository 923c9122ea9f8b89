"""What python.yaml does to its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def with_tax(rows: DataFrame, *, rate: float) -> DataFrame:
    """Add what is to be paid."""
    return rows.withColumn("to_pay", rows.amount * (1 + rate))
