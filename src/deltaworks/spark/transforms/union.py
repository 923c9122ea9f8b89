"""Put rows below rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from deltaworks.errors import ConfigError
from deltaworks.lake.model import Flag, FromText
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform, require_fit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_HINT = "Cast the rows with a cast transform before this, or cast the input in a sql transform."


class Union(Transform):
    """Add the rows of inputs to the rows, column by column of the same name, in any order."""

    wants_all: ClassVar[bool] = True

    type: Literal["union"]
    """`union`."""
    inputs: Annotated[tuple[str, ...], Field(min_length=1), FromText()]
    """The inputs to add, by their names in `inputs` of the pipeline."""
    allow_missing: Flag = False
    """Whether a column may be missing on one side; it is null there."""
    distinct: Flag = False
    """Whether to keep only one of the rows that are the same."""

    @property
    def uses(self) -> tuple[str, ...]:
        """The inputs it adds."""
        return self.inputs

    @property
    def keeps_order(self) -> bool:
        """Rows of an input have no place among the others."""
        return False

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """All rows."""
        for name in self.inputs:
            self._check(rows, inputs[name], name)
            rows = rows.unionByName(inputs[name], allowMissingColumns=self.allow_missing)
        return rows.distinct() if self.distinct else rows

    def describe(self) -> str:
        """The inputs."""
        return f"add the rows of {', '.join(self.inputs)}" + (", each once" if self.distinct else "")

    def _check(self, rows: DataFrame, more: DataFrame, name: str) -> None:
        ours = {field.name.lower(): field for field in rows.schema}
        theirs = {field.name.lower(): field for field in more.schema}
        if not self.allow_missing and ours.keys() != theirs.keys():
            _refuse_missing(sorted(ours.keys() - theirs.keys()), sorted(theirs.keys() - ours.keys()), name)
        for key in (key for key in ours if key in theirs):
            require_fit(ours[key], theirs[key], name, hint=_HINT)


def _refuse_missing(there: list[str], here: list[str], name: str) -> None:
    lacking = [f"{name!r} has no column {', '.join(map(repr, there))}"] if there else []
    lacking += [f"the rows have no column {', '.join(map(repr, here))}"] if here else []
    said = " and ".join(lacking)
    raise ConfigError(f"{said[0].upper()}{said[1:]}.", hint="Set `allowMissing: true` to fill it with nulls.")
