"""Keep the rows a condition selects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from deltaworks.lake.sql import same_each_time
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Filter(Transform):
    """Keep the rows for which a condition is true."""

    type: Literal["filter"]
    """`filter`."""
    condition: str
    """A SQL condition; a row for which it is null is left out."""

    @property
    def repeats(self) -> bool:
        """It looks at one row at a time, unless its SQL asks for chance or the clock."""
        return same_each_time(self.condition)

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """Keep what the condition selects."""
        return rows.where(self.condition)

    def describe(self) -> str:
        """The condition."""
        return f"keep rows where {self.condition}"
