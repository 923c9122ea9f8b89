"""The record of one run: opened at its start, closed at its end, whole at every moment."""

from __future__ import annotations

import json
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any

from deltaworks.errors import ConfigError, SetupError, did_you_mean
from deltaworks.runs.process import Process

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from deltaworks.errors import DeltaworksError
    from deltaworks.runs.result import LoadResult, StepResult

MANIFEST = "manifest.json"
LOG = "run.log"
RUNNING = "running"  # a marker file, so that finding unfinished runs reads nothing else


class Status(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """What happened in one run, as plain JSON a person can open."""

    run_id: str
    pipeline_id: str
    status: Status
    started: str
    ended: str | None = None
    process: Process
    user: str
    file: str | None = None
    key: str | None = None
    config: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    plan: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] | None = None
    after: list[dict[str, Any]] = field(default_factory=list)  # the steps once the rows had landed
    error: dict[str, Any] | None = None

    def landed(self, result: LoadResult) -> RunRecord:
        """Note that the rows are in the table, while the run goes on."""
        return replace(self, result=result.to_dict())

    def succeeded(self, after: Iterable[StepResult] = ()) -> RunRecord:
        """Close it well."""
        return replace(self, status=Status.SUCCEEDED, ended=now(), after=[asdict(step) for step in after])

    def failed(self, error: DeltaworksError) -> RunRecord:
        """Close it with what went wrong."""
        status = Status.INTERRUPTED if error.exit_code == 130 else Status.FAILED
        told = {"type": type(error).__name__, "message": str(error), "hint": error.hint, "exit_code": error.exit_code}
        return replace(self, status=status, ended=now(), error=told)

    def interrupted(self) -> RunRecord:
        """Close it for a process that is gone."""
        told = {"type": "StoppedError", "message": "The process ended before the run did.", "hint": "Run it again."}
        return replace(self, status=Status.INTERRUPTED, ended=now(), error=told)

    def to_json(self) -> str:
        """The whole record."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False)


def new_run_id() -> str:
    """A name no other run has; names sort by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"


def now() -> str:
    """The time, as records spell it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class RunFolder:
    """Where the records of all runs are kept."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def of(self, record: RunRecord) -> Path:
        """The folder of one run."""
        return self.path / record.pipeline_id / record.run_id

    def save(self, record: RunRecord) -> Path:
        """Write the record so that a reader sees all of it or none of it."""
        folder = self.of(record)
        try:
            return _saved(record, folder)
        except OSError as error:
            raise SetupError(
                f"The run record cannot be written to {folder}: {error.strerror}.",
                hint="Make room or give rights there, or name another folder as `runs` in deltaworks.yaml.",
            ) from error

    def close_interrupted(self) -> None:
        """Close the records whose process is gone."""
        for marker in self.path.glob(f"*/*/{RUNNING}"):
            manifest = marker.with_name(MANIFEST)
            record = _read(manifest)
            # Read once more when the process is gone: it may have closed its record before it went.
            if record and record.process.is_gone() and (record := _read(manifest)):
                with suppress(SetupError):  # somebody who may write here will close it
                    self.save(record.interrupted() if record.status is Status.RUNNING else record)

    def newest(self, limit: int | None = None, pipeline: str | None = None) -> Iterator[RunRecord]:
        """Records, the newest first."""
        found = [path for path in self.path.glob(f"*/*/{MANIFEST}") if pipeline in (None, path.parent.parent.name)]
        found.sort(key=lambda path: path.parent.name, reverse=True)
        return islice((record for path in found if (record := _read(path)) is not None), limit)

    def find(self, run_id: str) -> RunRecord:
        """The record of one run, by its whole id or a part that only it has."""
        paths = sorted(self.path.glob(f"*/*/{MANIFEST}"), key=lambda path: path.parent.name)
        found = [path for path in paths if run_id in path.parent.name]
        exact = [path for path in found if path.parent.name == run_id] or found
        if len(exact) != 1:
            what = f"{len(exact)} runs have {run_id!r} in their id." if exact else f"No run has the id {run_id!r}."
            raise ConfigError(what, hint=did_you_mean(run_id, [path.parent.name for path in exact or paths][-10:]))
        record = _read(exact[0])
        if record is None:
            raise ConfigError(
                f"{exact[0]} is not a whole run record.", hint=f"Look at {LOG} beside it; it may tell more."
            )
        return record


def _saved(record: RunRecord, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    marker, manifest = folder / RUNNING, folder / MANIFEST
    if record.status is Status.RUNNING:
        marker.touch()
    # A name of its own: two commands may close the record of a third at the same time.
    draft = folder / f"{MANIFEST}.{secrets.token_hex(4)}.tmp"
    draft.write_text(record.to_json(), encoding="utf-8", errors="backslashreplace")
    draft.replace(manifest)
    if record.status is not Status.RUNNING:
        marker.unlink(missing_ok=True)
    return manifest


def _read(path: Path) -> RunRecord | None:
    """A record; none when it is not whole. Keys of a later version are left out."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        known = {name: found[name] for name in RunRecord.__dataclass_fields__ if name in found}
        return RunRecord(**known | {"status": Status(found["status"]), "process": Process(**found["process"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
