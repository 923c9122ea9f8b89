"""SQL over rows that have no table name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

ROWS = "\0rows\0"  # stands for the rows while a statement is built; no SQL text contains it


def other(name: str) -> str:
    """What stands for other rows, by their name."""
    return f"\0other {name}\0"


def run_over(rows: DataFrame, statement: str, others: Mapping[str, DataFrame] | None = None) -> DataFrame:
    """Run a statement in which `ROWS` stands for these rows and `other(name)` for others."""
    # PySpark formats the text, so braces of the user's own must come out as braces.
    text = statement.replace("{", "{{").replace("}", "}}").replace(ROWS, "{rows}")
    named: dict[str, Any] = {f"other_{name}": _apart(each) for name, each in (others or {}).items()}
    for name in others or {}:
        text = text.replace(other(name), f"{{other_{name}}}")
    return rows.sparkSession.sql(text, rows=_apart(rows), **named)


def _apart(rows: DataFrame) -> DataFrame:
    """The same rows under a plan of their own: PySpark names them in a view, and with it drops what is cached."""
    return rows.where("true")
