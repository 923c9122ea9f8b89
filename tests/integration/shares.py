"""How the rows of a table are shared out among connections, counted by the database itself."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deltaworks.pipeline.around import Around
from deltaworks.pipeline.checking import checked
from deltaworks.pipeline.config import ExtractPart
from deltaworks.pipeline.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from deltaworks.spark.databases.base import Span
    from tests.servers.database import TestDatabase

ROWS = 120_000
FILLED = "repeat('x', 120)"


def numbers(database: TestDatabase) -> str:
    """A relation `n` with so many rows."""
    if database.kind == "PostgreSQL":
        return f"(SELECT generate_series(1, {ROWS}) AS n) AS s"
    return f"(SELECT seq AS n FROM seq_1_to_{ROWS}) AS s"


def filled(database: TestDatabase, columns: str, select: str, *more: str) -> None:
    """A table `t` that is worth several connections, its rows made of `n`."""
    database.run(
        f"CREATE TABLE t ({columns}, filler varchar(200))",
        f"INSERT INTO t SELECT {select}, {FILLED} FROM {numbers(database)}",
        *more,
        "ANALYZE t" if database.kind == "PostgreSQL" else "ANALYZE TABLE t",
    )


def source_of(spark: SparkSession, database: TestDatabase, **parameters: Any) -> Any:
    """The source of a pipeline, ready to be asked."""
    part = checked(ExtractPart, Document({"extract": database.source(**parameters)})).extract
    return part.located(Around(session=lambda: spark, vault=database.vault()))


@contextmanager
def span_of(spark: SparkSession, database: TestDatabase, **parameters: Any) -> Iterator[tuple[Span, list[str], str]]:
    """What a run would read: the parts, what is said of them, and in which words."""
    source = source_of(spark, database, **parameters)
    with source.held() as span:
        yield span, list(source.remarks(span)), source.describe(span)


def shares(spark: SparkSession, database: TestDatabase, **parameters: Any) -> tuple[list[int], str]:
    """How many rows each connection reads, all together each once; and in which words that is said."""
    with span_of(spark, database, **parameters) as (span, _, words):
        counts = [database.rows(f"SELECT count(*) FROM ({select}) part")[0][0] for select in span.selects]
    assert sum(counts) == ROWS
    return counts, words


def balanced(counts: list[int], parts: int = 4) -> bool:
    """Whether no connection has much more to do than another."""
    return len(counts) == parts and max(counts) < 1.5 * ROWS / parts
