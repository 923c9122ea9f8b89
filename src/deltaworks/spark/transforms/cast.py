"""Give columns other types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from deltaworks.lake.model import FromText
from deltaworks.lake.sql import quoted
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform, require_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Cast(Transform):
    """Give columns other types; a value that does not fit fails the run."""

    type: Literal["cast"]
    """`cast`."""
    columns: Annotated[dict[str, str], Field(min_length=1), FromText()]
    """Column name to SQL type, such as `decimal(10,2)` or `date`."""

    @property
    def repeats(self) -> bool:
        """It looks at one row at a time."""
        return True

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """The same columns, some with a new type."""
        require_columns(rows, self.columns)
        wanted = {name.lower(): kind for name, kind in self.columns.items()}
        return rows.selectExpr(*(_cast(name, wanted.get(name.lower())) for name in rows.columns))

    def describe(self) -> str:
        """Columns and types."""
        return f"cast {', '.join(f'{name} to {kind}' for name, kind in self.columns.items())}"


def _cast(name: str, kind: str | None) -> str:
    return quoted(name) if kind is None else f"CAST({quoted(name)} AS {kind}) AS {quoted(name)}"
