"""A stream of Spark's, begun where a table says and stopped between two batches."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass
from threading import Event, Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta
    from pathlib import Path

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

LOOK = 0.05  # seconds between two looks at a stream
_FORMAT = "v1"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a stream keeps of itself. It is scratch: every start makes a new one of what the table says."""

    folder: Path

    def begin_after(self, batch: int, offset: str) -> None:
        """Let a stream go on behind a batch that ended at an offset, so that the next has the next number."""
        for name in ("offsets", "commits"):
            (self.folder / name).mkdir(parents=True)
        self._write("metadata", json.dumps({"id": str(uuid.uuid4())}))
        # Spark wants to see the batch before as well, where there could be one.
        for number in range(max(batch - 1, 0), batch + 1):
            about = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 0, "conf": {}})
            self._write(f"offsets/{number}", f"{_FORMAT}\n{about}\n{offset}")
        self._write(f"commits/{batch}", f'{_FORMAT}\n{{"nextBatchWatermarkMs":0}}')

    def end_of(self, batch: int) -> str:
        """Where a batch ends, which is written down before it runs."""
        return (self.folder / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()[-1]

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")


class Stopping:
    """A wish to end, which is met between two batches."""

    def __init__(self) -> None:
        self._wished = Event()
        self._busy = Lock()

    def wish(self) -> None:
        """End before the next batch."""
        self._wished.set()

    @property
    def wished(self) -> bool:
        """Whether somebody wants it to end."""
        return self._wished.is_set()

    def wait(self, seconds: float) -> None:
        """Pause, but not longer than until the wish."""
        self._wished.wait(seconds)

    def batch(self, work: Callable[[], None]) -> None:
        """Do one batch, unless it should end by now."""
        with self._busy:
            if not self.wished:
                work()

    def until_idle(self) -> None:
        """Wait for the batch under way."""
        with self._busy:
            return


def run_stream(
    rows: DataFrame,
    checkpoint: Checkpoint,
    each: Callable[[DataFrame, int], None],
    *,
    every: timedelta | None,
    stopping: Stopping,
) -> None:
    """Run a stream, batch by batch: without `every` until it has read what was there, else until it should end.

    What a batch raises is raised here, as it was; so is what keeps Spark from making the next one.
    """
    failed: list[BaseException] = []

    def one(batch: DataFrame, number: int) -> None:
        try:
            stopping.batch(lambda: each(batch, number))
        except BaseException as error:
            failed.append(error)
            raise

    writer = rows.writeStream.foreachBatch(one).option("checkpointLocation", checkpoint.folder.as_uri())
    query = _paced(writer, every).start()
    try:
        # Not in a call to the JVM, which Ctrl-C would break.
        while query.isActive and not stopping.wished:
            time.sleep(LOOK)
        stopping.until_idle()
    finally:
        query.stop()
    if failed:
        raise failed[0]
    if (error := query.exception()) is not None and not stopping.wished:
        raise error


def _paced(writer: DataStreamWriter, every: timedelta | None) -> DataStreamWriter:
    if every is None:
        return writer.trigger(availableNow=True)
    return writer.trigger(processingTime=f"{int(every.total_seconds() * 1000)} milliseconds")
