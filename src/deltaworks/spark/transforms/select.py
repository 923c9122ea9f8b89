"""Choose columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from deltaworks.lake.model import FromText
from deltaworks.lake.sql import same_each_time
from deltaworks.spark.hidden import ORDER, carried, visible
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform, names_all

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_KEPT = "__deltaworks_kept"


class Select(Transform):
    """Keep these columns, in this order; each may be an expression."""

    type: Literal["select"]
    """`select`."""
    columns: Annotated[tuple[str, ...], Field(min_length=1), FromText()]
    """Column names or SQL expressions such as `amount * 2 AS double`."""

    @property
    def repeats(self) -> bool:
        """It looks at one row at a time, unless its SQL asks for chance or the clock."""
        return same_each_time(*self.columns)

    @property
    def keeps_order(self) -> bool:
        """Unless its SQL means all columns, but for a `*` alone."""
        return not names_all(*self.columns)

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """Only the chosen columns."""
        # A `*` brings the column that tells the order along; it is taken once, under a name of its own meanwhile.
        kept = [f"{each} AS {_KEPT}" for each in carried(rows)]
        return visible(rows.selectExpr(*self.columns, *kept)).withColumnRenamed(_KEPT, ORDER)

    def describe(self) -> str:
        """The columns."""
        return f"select {', '.join(self.columns)}"
