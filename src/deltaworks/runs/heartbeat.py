"""The sign of life of a run, and its log on its way to the records."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from deltaworks.lake.local import LocalFolder
from deltaworks.lake.storage import UnreachableError
from deltaworks.runs.folder import LOG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltaworks.runs.folder import RunFolder
    from deltaworks.runs.record import RunRecord

PERIOD = 30.0  # seconds


@contextmanager
def beating(runs: RunFolder, record: RunRecord, period: float = PERIOD) -> Iterator[Path]:
    """Show that a run is alive until it ends; yields the file for its log, which a bucket gets with every beat."""
    with tempfile.TemporaryDirectory(prefix="deltaworks-") as scratch:
        there = isinstance(runs.folder, LocalFolder)
        log = Path(runs.of(record)) / LOG if there else Path(scratch) / LOG
        ended = Event()

        def beat() -> None:
            while not ended.wait(period):
                with suppress(UnreachableError):  # the next one may get through
                    runs.beat(record)
                    _send(runs, record, log)

        heart = Thread(target=beat, daemon=True, name=f"heartbeat {record.run_id}")
        heart.start()
        try:
            yield log
        finally:
            ended.set()
            heart.join()
            with suppress(UnreachableError):  # what landed counts, and the record tells of it
                _send(runs, record, log)


def _send(runs: RunFolder, record: RunRecord, log: Path) -> None:
    if not isinstance(runs.folder, LocalFolder):
        runs.save_log(record, log.read_bytes())
