"""Make columns of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from deltaworks.errors import ConfigError
from deltaworks.lake.model import FromText
from deltaworks.lake.sql import literal, quoted
from deltaworks.spark.connector import spelled
from deltaworks.spark.statement import run_over
from deltaworks.spark.transforms.aggregation import Grouping
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, column_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

Value = str | bool | int | float


class Pivot(Grouping):
    """Group rows by columns, and work out the aggregations once for each value of another column.

    A group without rows of a value gets null there, a count 0, a `collect` an empty list.
    """

    type: Literal["pivot"]
    """`pivot`."""
    column: str
    """The column whose values become columns."""
    values: Annotated[tuple[Value, ...], Field(min_length=1), FromText()]
    """Those values; others are left out. They must be said, so that the columns of a table do not depend on its rows.
    A column is called as its value, or as value and alias, `de_total`, where there are several aggregations."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the result."""
        return (*self._keys, *(self._name(value, each.name) for value in self.values for each in self.aggregations))

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """One row per group."""
        self._require(rows)
        kind = column_of(rows, self.column).dataType.simpleString()
        self._refuse_other_values(rows.sparkSession, kind)
        return run_over(rows, self.to_sql(kind))

    def to_sql(self, kind: str) -> str:
        """Spell it as one SELECT over a column of this type."""
        return self._select(self._cells(kind))

    def describe(self) -> str:
        """Numbers, groups and values."""
        return f"{self._said()}, for each {self.column} of {', '.join(map(spelled, self.values))}"

    def _refuse_other_values(self, spark: SparkSession, kind: str) -> None:
        wrong = ", ".join(f"try_cast({literal(spelled(value))} AS {kind}) IS NULL" for value in self.values)
        (found,) = spark.sql(f"SELECT {wrong}").collect()  # constants: no row is read
        for value in (value for value, is_wrong in zip(self.values, found, strict=True) if is_wrong):
            raise ConfigError(f"{value!r} is no value of column {self.column!r}, a {kind}.", hint="Change `values`.")

    def _cells(self, kind: str) -> Iterator[str]:
        for value in self.values:
            # As a value of the column's own type, so that no row has to be read as another.
            where = f"{quoted(self.column)} = CAST({literal(spelled(value))} AS {kind})"
            yield from (f"{each.call(where)} AS {quoted(self._name(value, each.name))}" for each in self.aggregations)

    def _name(self, value: Value, alias: str) -> str:
        return spelled(value) if len(self.aggregations) == 1 else f"{spelled(value)}_{alias}"
