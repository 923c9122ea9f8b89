"""Group rows and sum them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from deltaworks.lake.model import Columns, FileModel, FromText, problem
from deltaworks.lake.sql import quoted
from deltaworks.spark.errors import explained
from deltaworks.spark.statement import ROWS, run_over
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform, require_columns, said_twice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame

Function = Literal[
    "count",
    "countDistinct",
    "sum",
    "avg",
    "min",
    "max",
    "first",
    "last",
    "collect",
    "stddev",
    "percentile",
]


def _share(value: float) -> float:
    if not 0 <= value <= 1:
        raise problem(f"{value:g} is not between 0 and 1", "Write 0.5 for the median.")
    return value


class Aggregation(FileModel):
    """One value per group."""

    column: str
    """The column to look at; `*` counts rows."""
    function: Function
    """`count`, `countDistinct`, `sum`, `avg`, `min`, `max`, `stddev` (of a sample) and `percentile` (exact, between
    values where it falls there) leave nulls out. `first` and `last` take the value of the row that comes first or last
    in `orderBy`, a null too. `collect` makes a list of all values but nulls, sorted by `orderBy` or by value."""
    alias: str | None = None
    """The name of the result; `sum_amount` and the like where none is given."""
    order_by: Columns | None = None
    """The order of the rows, for `first`, `last` and `collect`; a null comes after everything for `first` and
    `collect`, before everything for `last`. A tie is decided by the value."""
    percentage: Annotated[float, AfterValidator(_share)] | None = None
    """Which `percentile`: 0.5 is the median."""

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        if self.column == "*" and self.function not in {"count", "countDistinct"}:
            raise problem(f"{self.function} needs a column, not `*`", "Name a column; `*` is for counting.")
        self._together("orderBy", self.order_by, needed=("first", "last"), allowed=("first", "last", "collect"))
        self._together("percentage", self.percentage, needed=("percentile",), allowed=("percentile",))
        return self

    def _together(self, key: str, value: object, *, needed: Iterable[str], allowed: Iterable[str]) -> None:
        if value is None and self.function in needed:
            raise problem(f"{self.function} needs `{key}`", f"Add `{key}`.")
        if value is not None and self.function not in allowed:
            raise problem(f"{self.function} has no `{key}`", f"Leave it out; it is for {', '.join(allowed)}.")

    def to_sql(self) -> str:
        """Spell it as a SELECT expression."""
        return f"{self.call()} AS {quoted(self.name)}"

    def call(self, where: str = "") -> str:
        """Spell its call, over the rows of a condition only if there is one."""
        value = "*" if self.column == "*" else quoted(self.column)
        rows = f" FILTER (WHERE {where})" if where else ""
        match self.function:
            case "countDistinct":
                return f"count(DISTINCT {value}){rows}"
            case "stddev":
                return f"stddev_samp({value}){rows}"
            case "percentile":
                return f"percentile({value}, {self.percentage}){rows}"
            case "first" | "last":
                return f"{self._by}({value}, {self._place(f'CAST({value} AS STRING)')}){rows}"
            case "collect":
                return self._collect(value, where)
        return f"{self.function}({value}){rows}"

    @property
    def name(self) -> str:
        """What the result is called."""
        return self.alias or (self.function if self.column == "*" else f"{self.function}_{self.column}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""
        return (*(() if self.column == "*" else (self.column,)), *(self.order_by or ()))

    @property
    def _by(self) -> str:
        return "min_by" if self.function == "first" else "max_by"

    def _place(self, tie: str) -> str:
        missing = "IS NOT NULL" if self.function == "last" else "IS NULL"  # so that a null never wins
        order = ", ".join(f"{column} {missing}, {column}" for column in map(quoted, self.order_by or ()))
        return f"struct({order}, {tie})"

    def _collect(self, value: str, where: str) -> str:
        if not self.order_by:
            return f"sort_array(collect_list({value})" + (f" FILTER (WHERE {where}))" if where else ")")
        there = f"{value} IS NOT NULL" + (f" AND {where}" if where else "")
        pairs = f"collect_list({self._place(f'{value} AS value')}) FILTER (WHERE {there})"
        return f"transform(sort_array({pairs}), each -> each.value)"


class Grouping(Transform):
    """What makes one row of each group."""

    wants_all: ClassVar[bool] = True
    gathers = True

    group_by: Columns | None = None
    """The columns to group by; without them all rows are one group."""
    aggregations: Annotated[tuple[Aggregation, ...], Field(min_length=1), FromText()]
    """What to work out for each group."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the result."""
        return (*self._keys, *(each.name for each in self.aggregations))

    @model_validator(mode="after")
    def _names_once(self) -> Self:
        if (name := said_twice(self.names)) is not None:
            raise problem(f"Two columns would be called {name!r}", "Give one of them another `alias`.")
        return self

    def _require(self, rows: DataFrame, *more: str) -> None:
        require_columns(rows, (*self._keys, *more, *(name for each in self.aggregations for name in each.columns)))

    def _select(self, values: Iterable[str]) -> str:
        keys = [quoted(key) for key in self._keys]
        return f"SELECT {', '.join([*keys, *values])} FROM {ROWS}" + (f" GROUP BY {', '.join(keys)}" if keys else "")

    def _said(self) -> str:
        numbers = ", ".join(f"{each.function}({each.column}) as {each.name}" for each in self.aggregations)
        return f"{numbers} by {', '.join(self._keys) or 'nothing'}"

    @property
    def _keys(self) -> tuple[str, ...]:
        return self.group_by or ()


class Aggregate(Grouping):
    """Group rows by columns and make one row of each group."""

    type: Literal["aggregation"]
    """`aggregation`."""
    having: str | None = None
    """A SQL condition that keeps groups, over the columns of the result and functions of the group: `count(*) > 1`."""

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """One row per group."""
        self._require(rows)
        if self.having is None:
            return run_over(rows, self.to_sql())
        with explained(f"having {self.having}", self.names):
            return run_over(rows, self.to_sql())

    def to_sql(self) -> str:
        """Spell it as one SELECT."""
        return self._select(each.to_sql() for each in self.aggregations) + (
            f" HAVING {self.having}" if self.having else ""
        )

    def describe(self) -> str:
        """Groups and numbers."""
        return self._said() + (f", where {self.having}" if self.having else "")
