"""A column that travels with the rows and lands nowhere: which of two rows is the newer one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ORDER = "__deltaworks_order"  # of any type that can be compared; the largest value is the newest


def carried(rows: DataFrame) -> list[str]:
    """The column, as something to select, where the rows have it."""
    return [ORDER] if ORDER in rows.columns else []


def visible(rows: DataFrame) -> DataFrame:
    """The rows without it."""
    return rows.drop(ORDER) if carried(rows) else rows
