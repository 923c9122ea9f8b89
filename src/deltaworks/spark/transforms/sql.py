"""Any query over the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from deltaworks.errors import ConfigError
from deltaworks.lake.model import FromText
from deltaworks.lake.sql import quoted
from deltaworks.spark.statement import ROWS, other, run_over
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform

if TYPE_CHECKING:
    from pyspark.errors import AnalysisException
    from pyspark.sql import DataFrame


class Sql(Transform):
    """Run a query over the rows, which it calls `input`, and over inputs, by their names."""

    wants_all: ClassVar[bool] = True

    type: Literal["sql"]
    """`sql`."""
    query: str
    """A SELECT over `input`."""
    inputs: Annotated[tuple[str, ...], FromText()] = ()
    """The inputs that the query names besides."""

    @property
    def uses(self) -> tuple[str, ...]:
        """The inputs it may name."""
        return self.inputs

    @property
    def keeps_order(self) -> bool:
        """A query may do anything with rows."""
        return False

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """The result of the query."""
        from pyspark.errors import AnalysisException

        try:
            found = run_over(rows, self.to_sql(), {name: inputs[name] for name in self.inputs})
            _ = found.schema  # Spark Connect finds mistakes only when asked for the schema
        except AnalysisException as error:
            self._refuse_unlisted(error, inputs)
            raise
        return found

    def to_sql(self) -> str:
        """The query, after the names it may use."""
        named = {"input": ROWS} | {quoted(name): other(name) for name in self.inputs}
        tables = ", ".join(f"{name} AS (SELECT * FROM {table})" for name, table in named.items())
        # In brackets, so that a query with its own WITH still finds them.
        return f"WITH {tables} SELECT * FROM (\n{self.query}\n)"

    def _refuse_unlisted(self, error: AnalysisException, inputs: Inputs) -> None:
        missing = (error.getMessageParameters() or {}).get("relationName", "").replace("`", "")
        if error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND" and missing in inputs:
            hint = f"Add it: inputs: [{', '.join([*self.inputs, missing])}]."
            raise ConfigError(f"The query names {missing!r}, which its `inputs` do not list.", hint=hint) from error

    def describe(self) -> str:
        """The query on one line."""
        return " ".join(self.query.split())
