"""Keep one row of those that are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from deltaworks.lake.model import Columns, problem
from deltaworks.lake.sql import quoted
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform, require_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

RANK = "__deltaworks_rank"


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
        # The other columns break ties, so that every reading agrees on the row.
        order = ", ".join([*self._order(), *map(_comparable, rows.schema)])
        keys = ", ".join(map(quoted, self.same))
        ranked = rows.selectExpr("*", f"row_number() OVER (PARTITION BY {keys} ORDER BY {order}) AS {RANK}")
        return ranked.where(f"{RANK} = 1").drop(RANK)

    def describe(self) -> str:
        """The keys, and which row is kept."""
        which = f"the {self.keep} by {', '.join(self.order_by)}" if self.order_by else "one row"
        return f"keep {which} of each {', '.join(self.same)}" if self.same else "keep one of the rows that are the same"

    def _order(self) -> list[str]:
        direction = "DESC" if self.keep == "last" else "ASC"
        return [f"{quoted(column)} {direction} NULLS LAST" for column in self.order_by or ()]


def _comparable(field: StructField) -> str:
    # Maps and variants have no order, their text has.
    kind = field.dataType.simpleString()
    return f"CAST({quoted(field.name)} AS STRING)" if "map<" in kind or "variant" in kind else quoted(field.name)
