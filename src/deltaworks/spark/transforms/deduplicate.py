"""Keep one row of those that are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from deltaworks.lake.model import Columns, problem
from deltaworks.lake.sql import quoted
from deltaworks.spark.newest import first_of_each
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform, require_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Deduplicate(Transform):
    """Keep one row of each key, always the same one; without keys, one of the rows that are the same throughout."""

    gathers = True

    type: Literal["deduplicate"]
    """`deduplicate`."""
    same: Annotated[Columns | None, Field(alias="keys")] = None
    """The columns that make rows the same, a null being the same as a null; all columns if left out."""
    order_by: Columns | None = None
    """Columns that say which row of a key is kept; one whose value is null is kept only where there is no other."""
    keep: Literal["last", "first"] = "last"
    """`last`: the row with the largest `orderBy`, the newest; `first`: the one with the smallest."""

    @model_validator(mode="after")
    def _order_within_keys(self) -> Self:
        if self.order_by and not self.same:
            raise problem("`orderBy` needs `keys`", "Say which columns make two rows the same.")
        return self

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """One row per key."""
        if not self.same:
            return rows.distinct()
        require_columns(rows, (*self.same, *(self.order_by or ())))
        return first_of_each(rows, self.same, self._order())

    def describe(self) -> str:
        """The keys, and which row is kept."""
        which = f"the {self.keep} by {', '.join(self.order_by)}" if self.order_by else "one row"
        return f"keep {which} of each {', '.join(self.same)}" if self.same else "keep one of the rows that are the same"

    def _order(self) -> list[str]:
        direction = "DESC" if self.keep == "last" else "ASC"
        return [f"{quoted(column)} {direction} NULLS LAST" for column in self.order_by or ()]
