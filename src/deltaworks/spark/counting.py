"""Counting rows on their way, without looking at them twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame


def counted(rows: DataFrame) -> tuple[DataFrame, Callable[[], int | None]]:
    """The same rows, and a function that says how many went by once they were written.

    It knows no number where Spark found out beforehand that nothing would come of these rows.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.sql import Observation
    from pyspark.sql.functions import count, lit

    observation = Observation()

    def number() -> int | None:
        try:
            return int(observation.get["rows"])
        except (Py4JJavaError, KeyError):  # nothing was observed, which PySpark fails to say
            return None

    return rows.observe(observation, count(lit(1)).alias("rows")), number
