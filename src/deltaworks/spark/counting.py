"""Counting rows on their way, without looking at them twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame


def counted(rows: DataFrame) -> tuple[DataFrame, Callable[[], int]]:
    """The same rows, and a function that says how many went by once they were written."""
    from pyspark.sql import Observation
    from pyspark.sql.functions import count, lit

    observation = Observation()
    return rows.observe(observation, count(lit(1)).alias("rows")), lambda: int(observation.get["rows"])
