"""Leave columns out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from deltaworks.lake.model import Columns
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform, require_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class DropColumns(Transform):
    """Leave columns out."""

    type: Literal["dropColumns"]
    """`dropColumns`."""
    columns: Columns
    """The columns to leave out."""

    @property
    def repeats(self) -> bool:
        """It looks at one row at a time."""
        return True

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """The rows without those columns."""
        require_columns(rows, self.columns)
        return rows.drop(*self.columns)

    def describe(self) -> str:
        """The columns."""
        return f"drop {', '.join(self.columns)}"
