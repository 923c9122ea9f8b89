"""One row of each key, always the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.lake.sql import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

RANK = "__deltaworks_rank"


def newest(rows: DataFrame, keys: Sequence[str], order_by: Sequence[str]) -> DataFrame:
    """The row of each key with the largest values; one whose value is null only where there is no other."""
    return first_of_each(rows, keys, [f"{quoted(name)} DESC NULLS LAST" for name in order_by])


def first_of_each(rows: DataFrame, keys: Sequence[str], order: Sequence[str]) -> DataFrame:
    """The first row of each key in an order; a null is a key like any other."""
    # The other columns break ties, so that every reading agrees on the row.
    ordered = ", ".join([*order, *map(_comparable, rows.schema)])
    ranked = rows.selectExpr(
        "*", f"row_number() OVER (PARTITION BY {', '.join(map(quoted, keys))} ORDER BY {ordered}) AS {RANK}"
    )
    return ranked.where(f"{RANK} = 1").drop(RANK)


def _comparable(field: StructField) -> str:
    # Maps and variants have no order, their text has.
    kind = field.dataType.simpleString()
    return f"CAST({quoted(field.name)} AS STRING)" if "map<" in kind or "variant" in kind else quoted(field.name)
