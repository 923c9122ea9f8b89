"""Group rows and sum them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from deltaworks.lake.model import Columns, FileModel, FromText
from deltaworks.lake.sql import quoted
from deltaworks.spark.statement import ROWS, run_over
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform, require_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Function = Literal["count", "countDistinct", "sum", "avg", "min", "max"]


class Aggregation(FileModel):
    """One number per group."""

    column: str
    """The column to look at; `*` counts rows."""
    function: Function
    """What to make of it."""
    alias: str | None = None
    """The name of the result; `sum_amount` and the like where none is given."""

    def to_sql(self) -> str:
        """Spell it as a SELECT expression."""
        value = "*" if self.column == "*" else quoted(self.column)
        call = f"count(DISTINCT {value})" if self.function == "countDistinct" else f"{self.function}({value})"
        return f"{call} AS {quoted(self.name)}"

    @property
    def name(self) -> str:
        """What the result is called."""
        return self.alias or (self.function if self.column == "*" else f"{self.function}_{self.column}")


class Aggregate(Transform):
    """Group rows by columns and make one row of each group."""

    gathers = True

    type: Literal["aggregation"]
    """`aggregation`."""
    group_by: Columns | None = None
    """The columns to group by; without them all rows are one group."""
    aggregations: Annotated[tuple[Aggregation, ...], Field(min_length=1), FromText()]
    """What to work out for each group."""

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """One row per group."""
        require_columns(rows, (*self._keys, *(each.column for each in self.aggregations if each.column != "*")))
        return run_over(rows, self.to_sql())

    def to_sql(self) -> str:
        """Spell it as one SELECT."""
        keys = [quoted(key) for key in self._keys]
        chosen = ", ".join([*keys, *(each.to_sql() for each in self.aggregations)])
        return f"SELECT {chosen} FROM {ROWS}" + (f" GROUP BY {', '.join(keys)}" if keys else "")

    def describe(self) -> str:
        """Groups and numbers."""
        numbers = ", ".join(f"{each.function}({each.column}) as {each.name}" for each in self.aggregations)
        return f"{numbers} by {', '.join(self._keys) or 'nothing'}"

    @property
    def _keys(self) -> tuple[str, ...]:
        return self.group_by or ()
