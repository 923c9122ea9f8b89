"""The rows of one load, with what is known of them."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltaworks.lake.storage import remove_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from deltaworks.spark.look import Findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One set of rows on its way into a table."""

    rows: DataFrame
    repeats: bool = False  # looking again gives the same rows
    findings: Findings | None = None  # what a look at them told, where there was one


@contextmanager
def staged(rows: DataFrame, folder: str) -> Iterator[DataFrame]:
    """Keep the rows in files while they are looked at more than once, so that each look sees the same rows."""
    try:
        rows.write.mode("errorifexists").parquet(folder)
        # A path to read is a pattern, unlike one to write.
        pattern = re.sub(r"([\\{}\[\]*?])", r"\\\1", folder)
        yield rows.sparkSession.read.schema(rows.schema).parquet(pattern)
    finally:
        remove_folder(folder)
