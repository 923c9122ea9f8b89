"""Look at rows together with those around them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from deltaworks.errors import ConfigError
from deltaworks.lake.model import Columns, FromText
from deltaworks.lake.sql import quoted
from deltaworks.spark.statement import ROWS, run_over
from deltaworks.spark.transforms.base import (
    NO_INPUTS,
    Inputs,
    Transform,
    names_all,
    refuse_twice,
    require_columns,
    with_columns,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame


class Window(Transform):
    """Add columns worked out from the rows around each row: ranks, running totals, the value before."""

    wants_all: ClassVar[bool] = True

    type: Literal["window"]
    """`window`."""
    columns: Annotated[dict[str, str], Field(min_length=1), FromText()]
    """Column name to window function, such as `row_number()` or `lag(amount)`; a larger expression says where the
    window belongs: `amount / sum(amount) OVER w`."""
    partition_by: Columns | None = None
    """The columns whose rows belong together; without them all rows do, on one executor."""
    order_by: Columns | None = None
    """Columns, or expressions such as `at DESC`; name enough of them that no two rows stand in one place."""
    frame: str | None = None
    """Which rows around it count, such as `ROWS BETWEEN 6 PRECEDING AND CURRENT ROW`."""

    @property
    def keeps_order(self) -> bool:
        """Unless its SQL means all columns."""
        return not names_all(*self.columns.values())

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """The rows with the columns, each in its old place or at the end."""
        from pyspark.errors import ParseException

        require_columns(rows, self.partition_by or ())
        refuse_twice(self.columns, hint="Give each another name.")
        try:
            found = run_over(rows, self.to_sql(rows.columns))
            _ = found.schema  # Spark Connect finds mistakes only when asked for the schema
        except ParseException as error:
            hint = "A column is one function such as lag(amount), or an expression that says `OVER w` in it."
            raise ConfigError(f"This is no window: {self.describe()}.", hint=hint) from error
        return found

    def to_sql(self, there: Sequence[str]) -> str:
        """Spell it as one SELECT over rows with these columns."""
        chosen = with_columns(there, {name: _over(each) for name, each in self.columns.items()})
        return f"SELECT {', '.join(chosen)} FROM {ROWS} WINDOW w AS ({' '.join(self._window(there))})"

    def describe(self) -> str:
        """The columns and their window."""
        added = ", ".join(f"{name} = {each}" for name, each in self.columns.items())
        by = f" by {', '.join(self.partition_by)}" if self.partition_by else ""
        order = f" in order of {', '.join(self.order_by)}" if self.order_by else ""
        return f"add {added}{by}{order}" + (f", {self.frame}" if self.frame else "")

    def _window(self, there: Sequence[str]) -> list[str]:
        by = [f"PARTITION BY {', '.join(map(quoted, self.partition_by))}"] if self.partition_by else []
        order = [f"ORDER BY {', '.join(_order(each, there) for each in self.order_by)}"] if self.order_by else []
        return [*by, *order, *([self.frame] if self.frame else [])]


def _over(expression: str) -> str:
    return expression if re.search(r"(?i)\bOVER\s*(\(|w\b)", expression) else f"{expression} OVER w"


def _order(text: str, there: Sequence[str]) -> str:
    """A column's name is quoted, what follows it and any other expression is SQL already."""
    name, direction = _DIRECTION.fullmatch(text).groups()  # type: ignore[union-attr]  # it matches any text
    return f"{quoted(name)}{direction}" if name.lower() in {each.lower() for each in there} else text


_DIRECTION = re.compile(r"(?is)(.*?)((?:\s+(?:asc|desc))?(?:\s+nulls\s+(?:first|last))?)")
