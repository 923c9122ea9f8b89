"""Put rows beside rows of an input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import model_validator

from deltaworks.lake.model import Columns, Flag, problem
from deltaworks.lake.sql import quoted
from deltaworks.spark.errors import explained
from deltaworks.spark.statement import ROWS, other, run_over
from deltaworks.spark.transforms.base import (
    NO_INPUTS,
    Inputs,
    Transform,
    column_of,
    refuse_twice,
    require_columns,
    require_fit,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

Kind = Literal["inner", "left", "right", "full", "semi", "anti", "cross"]
_JOINS = {"semi": "LEFT SEMI", "anti": "LEFT ANTI"}


class Join(Transform):
    """Put the matching rows of an input beside the rows. As in SQL, a null matches nothing, not even a null."""

    multiplies = True

    type: Literal["join"]
    """`join`."""
    input: str
    """The input to join with, by its name in `inputs`."""
    on: Columns | None = None
    """The columns that must be equal and that both sides have; they come out once."""
    condition: str | None = None
    """Instead of `on`: a SQL condition in which `input` is the rows and the input has its own name."""
    how: Kind = "inner"
    """`inner`, `left`, `right`, `full`, `semi` (keep rows that match), `anti` (keep the others) or `cross`."""
    columns: Columns | None = None
    """The columns to take from the input; all but those of `on` if left out."""
    prefix: str = ""
    """Put before the name of each column from the input."""
    broadcast: Flag = False
    """Send the whole input to every executor, which is quick while it is small."""

    @model_validator(mode="after")
    def _one_way_to_match(self) -> Self:
        if self.how == "cross" and (self.on or self.condition):
            raise problem("A cross join has neither `on` nor `condition`", "Leave it out, or choose another `how`.")
        if self.how != "cross" and bool(self.on) == bool(self.condition):
            raise problem("A join needs `on` or `condition`, one of them", "Write on: [id], or a condition.")
        if not self._takes and (self.columns or self.prefix):
            raise problem(f"A join of kind {self.how} takes no columns", "Leave out `columns` and `prefix`.")
        return self

    @property
    def uses(self) -> tuple[str, ...]:
        """The input it joins with."""
        return (self.input,)

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """The rows with what was found beside them."""
        there = inputs[self.input]
        self._check(rows, there)
        statement = self.to_sql(rows.columns, there.columns)
        sides = {"input": rows, self.input: there}
        with explained(self.condition or "on", [f"{side}.{name}" for side in sides for name in sides[side].columns]):
            joined = run_over(rows, statement, {self.input: there})
            _ = joined.schema  # Spark Connect finds mistakes only when asked for the schema
            return joined

    def _check(self, rows: DataFrame, there: DataFrame) -> None:
        require_columns(rows, self._keys)
        require_columns(there, (*self._keys, *(self.columns or ())))
        for key in self._keys:
            hint = "Cast the rows with a cast transform before this, or write a `condition` that casts."
            require_fit(column_of(rows, key), column_of(there, key), self.input, hint=hint)

    def to_sql(self, ours: Sequence[str], theirs: Sequence[str]) -> str:
        """Spell it as one SELECT over two sides with these columns."""
        taken = self._taken(theirs)
        refuse_twice((*ours, *taken.values()), hint="Choose with `columns`, or set `prefix`.")
        chosen = [*map(self._own, ours), *(f"{self._there}.{quoted(old)} AS {quoted(taken[old])}" for old in taken)]
        hint = f"/*+ BROADCAST({self._there}) */ " if self.broadcast else ""
        sides = f"{ROWS} AS input {_JOINS.get(self.how, self.how.upper())} JOIN {other(self.input)} AS {self._there}"
        return f"SELECT {hint}{', '.join(chosen)} FROM {sides}{self._match()}"

    def describe(self) -> str:
        """The input and how it is matched."""
        match = f" on {', '.join(self.on)}" if self.on else f" on {self.condition}" if self.condition else ""
        return f"{self.how} join with {self.input}{match}"

    @property
    def _keys(self) -> tuple[str, ...]:
        return self.on or ()

    @property
    def _there(self) -> str:
        return quoted(self.input)

    @property
    def _takes(self) -> bool:
        return self.how not in _JOINS

    def _taken(self, theirs: Sequence[str]) -> dict[str, str]:
        keys = {key.lower() for key in self._keys}
        taken = self.columns or [name for name in theirs if name.lower() not in keys]
        return {name: self.prefix + name for name in taken} if self._takes else {}

    def _own(self, name: str) -> str:
        # Where our side may be missing, the key is on the other.
        if self.how in {"right", "full"} and name.lower() in {key.lower() for key in self._keys}:
            return f"coalesce(input.{quoted(name)}, {self._there}.{quoted(name)}) AS {quoted(name)}"
        return f"input.{quoted(name)}"

    def _match(self) -> str:
        equal = " AND ".join(f"input.{quoted(key)} = {self._there}.{quoted(key)}" for key in self._keys)
        condition = equal or self.condition
        return f" ON {condition}" if condition else ""
