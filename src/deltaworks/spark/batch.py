"""The rows of one load, with what is known of them."""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from deltaworks.lake.folder import folder_at
from deltaworks.lake.globs import escaped
from deltaworks.lake.storage import UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import DataFrame

    from deltaworks.lake.folder import Folder
    from deltaworks.spark.look import Findings
    from deltaworks.vault.storage import Access


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One set of rows on its way into a table."""

    rows: DataFrame
    repeats: bool = False  # looking again gives the same rows
    multiplied: bool = False  # several of them may come from one row of the source
    findings: Findings | None = None  # what a look at them told, where there was one
    unreadable: DataFrame | None = None  # records to set aside, each as `reason` and `row`
    settle: Callable[[], None] | None = None  # to be called when all rows were read, before they land; may refuse
    refresh: bool = False  # the rows are all there is: whatever the way of writing, they take the place of all others


@contextmanager
def staged(rows: DataFrame, folder: str, run_id: str, access: Access) -> Iterator[DataFrame]:
    """Keep the rows in files while they are looked at more than once, so that each look sees the same rows."""
    around, own = left_clean(folder, run_id, access)
    try:
        rows.write.mode("errorifexists").parquet(folder)
        # A path to read is a pattern, unlike one to write.
        yield rows.sparkSession.read.schema(rows.schema).parquet(escaped(folder))
    finally:
        with suppress(UnreachableError):  # what landed counts, and a later load removes what is left
            around.remove_folder(own)


def left_clean(folder: str, run_id: str, access: Access) -> tuple[Folder, str]:
    """Remove what runs that were killed long ago left in the same place; the folder around it, and its name there."""
    parent, _, own = folder.rpartition("/")
    around = folder_at(parent, access)
    with suppress(UnreachableError):
        _remove_left(around, own, run_id)
    return around, own


def _remove_left(around: Folder, own: str, run_id: str) -> None:
    """Remove what runs that were killed long ago left in the same place."""
    for name in left(around.folders(), own, run_id, now=datetime.now(UTC)):
        around.remove_folder(name)


LONGEST_RUN = timedelta(days=7)  # as long as Delta keeps files for those who still read them


def left(names: Iterable[str], own: str, run_id: str, *, now: datetime) -> list[str]:
    """Which names are like our own but of a run so old that it must have ended."""
    before, _, after = own.rpartition(run_id)
    like = re.compile(rf"{re.escape(before)}(\d{{8}}T\d{{6}})-[0-9a-f]{{8}}{re.escape(after)}")
    begun = {name: found[1] for name in names if (found := like.fullmatch(name))}
    return [name for name, time in begun.items() if time < f"{now - LONGEST_RUN:%Y%m%dT%H%M%S}"]
