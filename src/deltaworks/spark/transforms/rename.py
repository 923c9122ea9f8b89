"""Give columns other names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from deltaworks.lake.model import FromText
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform, refuse_twice, require_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Rename(Transform):
    """Give columns other names; the rest stay."""

    type: Literal["rename"]
    """`rename`."""
    columns: Annotated[dict[str, str], Field(min_length=1), FromText()]
    """Old name to new name."""

    @property
    def repeats(self) -> bool:
        """It looks at one row at a time."""
        return True

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """The same rows under the new names."""
        require_columns(rows, self.columns)
        wanted = {old.lower(): new for old, new in self.columns.items()}
        names = [wanted.get(name.lower(), name) for name in rows.columns]
        refuse_twice(names, hint="Drop or rename the other one too.")
        return rows.toDF(*names)

    def describe(self) -> str:
        """Old and new names."""
        return f"rename {', '.join(f'{old} to {new}' for old, new in self.columns.items())}"
