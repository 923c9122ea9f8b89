"""SQL over rows that have no table name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS = "\0rows\0"  # stands for the rows while a statement is built; no SQL text contains it


def run_over(rows: DataFrame, statement: str) -> DataFrame:
    """Run a statement in which `ROWS` stands for these rows."""
    # PySpark formats the text, so braces of the user's own must come out as braces.
    escaped = statement.replace("{", "{{").replace("}", "}}").replace(ROWS, "{rows}")
    return rows.sparkSession.sql(escaped, rows=rows)
