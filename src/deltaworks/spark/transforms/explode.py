"""Make a row of each item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from deltaworks.errors import ConfigError
from deltaworks.lake.model import Columns, Flag
from deltaworks.lake.sql import quoted
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform, column_of, refuse_twice

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType


class Explode(Transform):
    """Make one row of each item of an array or each entry of a map; they take the column's place."""

    multiplies = True

    type: Literal["explode"]
    """`explode`."""
    column: str
    """An array or a map."""
    alias: Columns | None = None
    """The name of the item (the column's own if left out), or of a map's key and value (`key` and `value`)."""
    position: str | None = None
    """The name of a column for the item's place, from 0; there is none if left out."""
    keep_empty: Flag = False
    """Whether a row stays, with nulls, that has no item."""

    @property
    def repeats(self) -> bool:
        """It looks at one row at a time."""
        return True

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """One row per item."""
        field = column_of(rows, self.column)
        names = [*([self.position] if self.position else []), *self._names(field.dataType)]
        rest = [name for name in rows.columns if name != field.name]
        refuse_twice((*rest, *names), hint="Choose another `alias` or `position`.")
        items = f"{self._function}({quoted(field.name)}) AS ({', '.join(map(quoted, names))})"
        return rows.selectExpr(*(items if name == field.name else quoted(name) for name in rows.columns))

    def describe(self) -> str:
        """The column."""
        return f"one row for each item of {self.column}" + (", or an empty one" if self.keep_empty else "")

    @property
    def _function(self) -> str:
        return ("posexplode" if self.position else "explode") + ("_outer" if self.keep_empty else "")

    def _names(self, kind: DataType) -> tuple[str, ...]:
        usual = {"array": (self.column,), "map": ("key", "value")}.get(kind.typeName())
        if usual is None:
            hint = "Parse it with parseJson before." if kind.typeName() == "string" else "Name another column."
            raise ConfigError(f"Column {self.column!r} is {kind.simpleString()}, not an array or a map.", hint=hint)
        if self.alias and len(self.alias) != len(usual):
            wanted = "one name" if len(usual) == 1 else "two names, of key and value"
            raise ConfigError(f"`alias` of a column that is {kind.simpleString()} is {wanted}.", hint="Change `alias`.")
        return self.alias or usual
