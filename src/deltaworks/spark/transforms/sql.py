"""Any query over the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from deltaworks.spark.statement import ROWS, run_over
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Sql(Transform):
    """Run a query over the rows, which it calls `input`."""

    type: Literal["sql"]
    """`sql`."""
    query: str
    """A SELECT over `input`."""

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """The result of the query."""
        # In brackets, so that a query with its own WITH still finds `input`.
        return run_over(rows, f"WITH input AS (SELECT * FROM {ROWS}) SELECT * FROM (\n{self.query}\n)")

    def describe(self) -> str:
        """The query on one line."""
        return " ".join(self.query.split())
