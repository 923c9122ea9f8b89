"""Where the records of all runs are kept: a local folder, or one in a bucket."""

from __future__ import annotations

import secrets
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError, SetupError, did_you_mean
from deltaworks.lake.storage import UnreachableError
from deltaworks.runs.record import RunRecord, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from deltaworks.lake.folder import Folder

MANIFEST = "manifest.json"
LOG = "run.log"
RUNNING = ".running"  # the folder of the heartbeats, so that finding unfinished runs reads nothing else
SILENCE = timedelta(minutes=5)  # ten heartbeats


class RunFolder:
    """Run records by pipeline and run, each whole at every moment."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    @property
    def uri(self) -> str:
        """Where it is."""
        return self.folder.uri

    def of(self, record: RunRecord) -> str:
        """The folder of one run."""
        return f"{self.uri.rstrip('/')}/{_inside(record)}"

    def save(self, record: RunRecord) -> None:
        """Write the record so that a reader sees all of it or none of it."""
        try:
            if record.status is Status.RUNNING:
                self.beat(record)
            text = record.to_json().encode("utf-8", errors="backslashreplace")
            self.folder.write(f"{_inside(record)}/{MANIFEST}", text)
            if record.status is not Status.RUNNING:
                self.folder.remove(_marker(record))
        except UnreachableError as error:
            raise SetupError(
                f"The run record cannot be written to {self.of(record)}: {error.why}.",
                hint="Make room or give rights there, or name another folder as `runs` in deltaworks.yaml.",
            ) from error

    def beat(self, record: RunRecord) -> None:
        """Say that a run is alive: storage keeps the time at which it was said."""
        self.folder.write(_marker(record), b"")

    def save_log(self, record: RunRecord, text: bytes) -> None:
        """Write the log of a run."""
        self.folder.write(f"{_inside(record)}/{LOG}", text)

    def close_interrupted(self) -> None:
        """Close the records of runs that are no more."""
        clock = cache(self._clock)
        for name in self.folder.names(RUNNING):
            run_id, _, pipeline = name.partition("@")
            record = self._read(pipeline, run_id)
            # Read once more when the run is gone: it may have closed its record before it went.
            if record and self._is_gone(record, clock) and (record := self._read(pipeline, run_id)):
                with suppress(SetupError):  # somebody who may write here will close it
                    self.save(record.interrupted() if record.status is Status.RUNNING else record)

    def _is_gone(self, record: RunRecord, clock: Callable[[], datetime]) -> bool:
        """Whether a run certainly goes on no more; one of another machine does as long as its heart beats."""
        if record.process.is_here():
            return record.process.is_gone()
        beat = self.folder.modified(_marker(record))
        return beat is not None and clock() - beat > SILENCE

    def _clock(self) -> datetime:
        """The time by the clock that dates the heartbeats, which need not be ours."""
        name = f"{RUNNING}-{secrets.token_hex(4)}"
        try:
            self.folder.write(name, b"")
            return self.folder.modified(name) or datetime.min.astimezone()
        except UnreachableError:
            return datetime.min.astimezone()  # then nobody is called silent
        finally:
            with suppress(UnreachableError):
                self.folder.remove(name)

    def newest(self, limit: int | None = None, pipeline: str | None = None) -> Iterator[RunRecord]:
        """Records, the newest first."""
        found = (self._read(name, run_id) for run_id, name in reversed(self._all()) if pipeline in (None, name))
        return islice((record for record in found if record is not None), limit)

    def find(self, run_id: str) -> RunRecord:
        """The record of one run, by its whole id or a part that only it has."""
        known = self._all()
        found = [each for each in known if run_id in each[0]]
        exact = [each for each in found if each[0] == run_id] or found
        if len(exact) != 1:
            what = f"{len(exact)} runs have {run_id!r} in their id." if exact else f"No run has the id {run_id!r}."
            raise ConfigError(what, hint=did_you_mean(run_id, [each[0] for each in exact or known][-10:]))
        [(run_id, pipeline)] = exact
        record = self._read(pipeline, run_id)
        if record is None:
            where = f"{self.uri.rstrip('/')}/{pipeline}/{run_id}/{MANIFEST}"
            raise ConfigError(f"{where} is not a whole run record.", hint=f"Look at {LOG} beside it; it may tell more.")
        return record

    def _all(self) -> list[tuple[str, str]]:
        """Every run and its pipeline, the oldest first."""
        pipelines = [name for name in self.folder.folders() if name != RUNNING]
        return sorted((run_id, name) for name in pipelines for run_id in self.folder.folders(name))

    def _read(self, pipeline: str, run_id: str) -> RunRecord | None:
        try:
            return RunRecord.from_json(self.folder.read(f"{pipeline}/{run_id}/{MANIFEST}"))
        except UnreachableError:
            return None


def _inside(record: RunRecord) -> str:
    return f"{record.pipeline_id}/{record.run_id}"


def _marker(record: RunRecord) -> str:
    return f"{RUNNING}/{record.run_id}@{record.pipeline_id}"
