"""The rows of one load, with what is known of them."""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from deltaworks import failpoints
from deltaworks.errors import SetupError
from deltaworks.lake.folder import folder_at
from deltaworks.lake.globs import escaped
from deltaworks.lake.storage import UnreachableError
from deltaworks.runs.record import new_run_id
from deltaworks.spark.counting import counted

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
def staged(rows: DataFrame, scratch: Callable[[str], str], access: Access) -> Iterator[DataFrame]:
    """Keep the rows in files while they are looked at more than once, so that each look sees the same rows."""
    # Not named after its run, which may go on for weeks: others would take it for one that was killed.
    now = new_run_id()
    folder = scratch(now)
    around, own = left_clean(folder, now, access)
    try:
        passing, written = counted(rows)
        passing.write.mode("errorifexists").parquet(folder)
        failpoints.reach("staged")
        # A path to read is a pattern, unlike one to write.
        kept = rows.sparkSession.read.schema(rows.schema).parquet(escaped(folder))
        _require_all(folder, written() or 0, kept.count())
        yield kept
    finally:
        with suppress(UnreachableError):  # what landed counts, and a later load removes what is left
            around.remove_folder(own)


def _require_all(folder: str, written: int, there: int) -> None:
    if written != there:
        raise NotSharedError(folder, written, there)


class NotSharedError(SetupError):
    """Rows that were written to a folder are not there: each machine of a cluster wrote to a disk of its own."""

    def __init__(self, folder: str, written: int, there: int) -> None:
        super().__init__(
            f"{written:,} rows were written to {folder}, and {there:,} are there: it is not the same folder on all "
            "machines of the cluster.",
            hint="Nothing was landed. Name a place that all of them share: for a database or Kafka as asidePath, "
            "beside which rows are kept meanwhile.",
        )


def left_clean(folder: str, begun: str, access: Access) -> tuple[Folder, str]:
    """Remove what was begun long ago in the same place and left there; the folder around it, and its name there."""
    parent, _, own = folder.rpartition("/")
    around = folder_at(parent, access)
    with suppress(UnreachableError):
        _remove_left(around, own, begun)
    return around, own


def _remove_left(around: Folder, own: str, begun: str) -> None:
    """Remove what was begun long ago in the same place and left there."""
    for name in left(around.folders(), own, begun, now=datetime.now(UTC)):
        around.remove_folder(name)


LONGEST_LOAD = timedelta(days=7)  # as long as Delta keeps files for those who still read them


def left(names: Iterable[str], own: str, begun: str, *, now: datetime) -> list[str]:
    """Which names are like our own but of a load so old that it must have ended, by the id that says when it began."""
    before, _, after = own.rpartition(begun)
    like = re.compile(rf"{re.escape(before)}(\d{{8}}T\d{{6}})-[0-9a-f]{{8}}{re.escape(after)}")
    times = {name: found[1] for name in names if (found := like.fullmatch(name))}
    return [name for name, time in times.items() if time < f"{now - LONGEST_LOAD:%Y%m%dT%H%M%S}"]
