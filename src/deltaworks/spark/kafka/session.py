"""Spark's connector for Kafka: found in a session, and used in its newer form."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from deltaworks.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

OLDER = "spark.sql.sources.useV1SourceList"


@contextmanager
def newer(spark: SparkSession, more: Mapping[str, str] | None = None) -> Iterator[None]:
    """Let Spark use its newer connector inside: it copies each record once less, and counts what it writes.

    `more` are other settings that count inside only.
    """
    others = ",".join(name for name in (spark.conf.get(OLDER) or "").split(",") if name != "kafka")
    wanted = {OLDER: others, **(more or {})}
    before = {name: spark.conf.get(name, None) for name in wanted}
    try:
        for name, value in wanted.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, was in before.items():
            if was is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, was)


@contextmanager
def with_jars() -> Iterator[None]:
    """Say of a session that does not know Kafka which jars it lacks."""
    from pyspark.errors import AnalysisException

    try:
        yield
    except AnalysisException as error:
        if "find data source" not in str(error):
            raise
        raise SetupError(
            "This session cannot read or write Kafka: it lacks jars.",
            hint=f"Make the session with {_jar()} and what it needs, or let deltaworks open it.",
        ) from error


def _jar() -> str:
    from deltaworks.spark.jars import catalogue

    jar = next(each for each in catalogue()["kafka"] if each.artifact.startswith("spark-sql-kafka"))
    return f"{jar.group}:{jar.artifact}:{jar.version}"
