"""The newest row of each key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.lake.sql import quoted
from deltaworks.spark.statement import ROWS, run_over

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

RANK = "\u0001rank"  # no column of the user's is called this


def newest(rows: DataFrame, keys: Sequence[str], order_by: Sequence[str]) -> DataFrame:
    """Keep the newest row of each key; null is a key too, and a row without a time is the oldest.

    Of rows that are equally new every reading keeps the same one: all their values decide.
    """
    columns = ", ".join(map(quoted, rows.columns))
    order = [f"{quoted(name)} DESC NULLS LAST" for name in order_by]
    order.append(f"xxhash64(to_json(struct({columns}), map('ignoreNullFields', 'false')))")
    rank = f"row_number() OVER (PARTITION BY {', '.join(map(quoted, keys))} ORDER BY {', '.join(order)})"
    ranked = f"SELECT {columns}, {rank} AS {quoted(RANK)} FROM {ROWS}"
    return run_over(rows, f"SELECT {columns} FROM ({ranked}) WHERE {quoted(RANK)} = 1")
