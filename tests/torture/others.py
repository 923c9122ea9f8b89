"""Writers beside the pipeline, each in a process of its own: no Spark, only delta-rs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltalake import CommitProperties, Transaction, write_deltalake
from deltalake.exceptions import DeltaError

from tests.torture.streams import Row, as_arrow

if TYPE_CHECKING:
    from threading import Barrier, Event

COMMITS = 20  # at most
PAUSE = 0.5  # seconds from one to the next


def add(uri: str, options: dict[str, str], writer: int, start: Barrier, done: Event) -> list[Row]:
    """Add rows as a service does, until it is told to end; which were acknowledged."""
    start.wait(60)
    landed: list[Row] = []
    for number in range(COMMITS):
        rows = _rows(writer, number)
        marks = [Transaction(f"writer-{writer}-{number}", 1)]
        properties = CommitProperties(app_transactions=marks, max_commit_retries=100)
        try:
            write_deltalake(uri, as_arrow(rows), mode="append", storage_options=options, commit_properties=properties)
        except DeltaError:
            continue
        landed += rows
        if done.wait(PAUSE):
            break
    return landed


def _rows(writer: int, number: int) -> list[Row]:
    batch = 1000 * writer + number  # a partition of its own
    return [Row(f"writer-{writer}", batch, seq, batch * 1000 + seq, 0) for seq in range(3)]
