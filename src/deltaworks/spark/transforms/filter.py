"""Keep the rows a condition selects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from deltaworks.spark.transforms.base import Transform

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Filter(Transform):
    """Keep the rows for which a condition is true."""

    type: Literal["filter"]
    """`filter`."""
    condition: str
    """A SQL condition; a row for which it is null is left out."""

    def apply(self, rows: DataFrame) -> DataFrame:
        """Keep what the condition selects."""
        return rows.where(self.condition)

    def describe(self) -> str:
        """The condition."""
        return f"keep rows where {self.condition}"
