"""Add or replace columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from deltaworks.lake.sql import same_each_time
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform, names_all, with_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class WithColumn(Transform):
    """Add a column, or replace the one of that name."""

    type: Literal["withColumn"]
    """`withColumn`."""
    name: str
    """The column's name."""
    expression: str
    """Its value, as a SQL expression."""

    @property
    def repeats(self) -> bool:
        """It looks at one row at a time, unless its SQL asks for chance or the clock."""
        return same_each_time(self.expression)

    @property
    def keeps_order(self) -> bool:
        """Unless its SQL means all columns."""
        return not names_all(self.expression)

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """The rows with the column, in its old place or at the end."""
        return rows.selectExpr(*with_columns(rows.columns, {self.name: self.expression}))

    def describe(self) -> str:
        """Name and expression."""
        return f"add {self.name} = {self.expression}"
