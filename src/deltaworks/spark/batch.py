"""The rows of one load, with what is known of them."""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from deltaworks.lake.globs import escaped
from deltaworks.lake.storage import Folder, UnreachableError, remove_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

    from deltaworks.spark.look import Findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One set of rows on its way into a table."""

    rows: DataFrame
    repeats: bool = False  # looking again gives the same rows
    findings: Findings | None = None  # what a look at them told, where there was one


@contextmanager
def staged(rows: DataFrame, folder: str, run_id: str) -> Iterator[DataFrame]:
    """Keep the rows in files while they are looked at more than once, so that each look sees the same rows."""
    remove_left(folder, run_id)
    try:
        rows.write.mode("errorifexists").parquet(folder)
        # A path to read is a pattern, unlike one to write.
        yield rows.sparkSession.read.schema(rows.schema).parquet(escaped(folder))
    finally:
        with suppress(UnreachableError):  # what landed counts, and a later load removes what is left
            remove_folder(folder)


def remove_left(folder: str, run_id: str) -> None:
    """Remove what runs that were killed long ago left in the same place."""
    parent, _, own = folder.rpartition("/")
    with suppress(UnreachableError):
        for name in left(Folder.of(parent).folders(""), own, run_id, now=datetime.now(UTC)):
            remove_folder(f"{parent}/{name}")


LONGEST_RUN = timedelta(days=7)  # as long as Delta keeps files for those who still read them


def left(names: Iterable[str], own: str, run_id: str, *, now: datetime) -> list[str]:
    """Which names are like our own but of a run so old that it must have ended."""
    before, _, after = own.rpartition(run_id)
    like = re.compile(rf"{re.escape(before)}(\d{{8}}T\d{{6}})-[0-9a-f]{{8}}{re.escape(after)}")
    begun = {name: found[1] for name in names if (found := like.fullmatch(name))}
    return [name for name, time in begun.items() if time < f"{now - LONGEST_RUN:%Y%m%dT%H%M%S}"]
