"""The record of one run: opened at its start, closed at its end, whole at every moment."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from deltaworks.errors import ConfigError, did_you_mean
from deltaworks.runs.process import Process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from deltaworks.errors import DeltaworksError
    from deltaworks.runs.result import LoadResult

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
    error: dict[str, Any] | None = None

    def succeeded(self, result: LoadResult) -> RunRecord:
        """Close it well."""
        return replace(self, status=Status.SUCCEEDED, ended=now(), result=result.to_dict())

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
        folder.mkdir(parents=True, exist_ok=True)
        marker = folder / RUNNING
        if record.status is Status.RUNNING:
            marker.touch()
        draft = folder / f"{MANIFEST}.tmp"
        draft.write_text(record.to_json(), encoding="utf-8")
        draft.replace(folder / MANIFEST)
        if record.status is not Status.RUNNING:
            marker.unlink(missing_ok=True)
        return folder / MANIFEST

    def close_interrupted(self) -> None:
        """Close the records whose process is gone."""
        for marker in self.path.glob(f"*/*/{RUNNING}"):
            record = _read(marker.with_name(MANIFEST))
            if record is None:  # killed before the first write
                marker.unlink(missing_ok=True)
            elif record.status is not Status.RUNNING or record.process.is_gone():
                self.save(record.interrupted() if record.status is Status.RUNNING else record)

    def newest(self, limit: int | None = None, pipeline: str | None = None) -> Iterator[RunRecord]:
        """Records, the newest first."""
        found = sorted(
            self.path.glob(f"{pipeline or '*'}/*/{MANIFEST}"), key=lambda path: path.parent.name, reverse=True
        )
        records = (record for path in found if (record := _read(path)) is not None)
        return (record for number, record in enumerate(records) if limit is None or number < limit)

    def find(self, run_id: str) -> RunRecord:
        """The record of one run, by its whole id or a part that only it has."""
        found = [path for path in self.path.glob(f"*/*/{MANIFEST}") if run_id in path.parent.name]
        exact = [path for path in found if path.parent.name == run_id] or found
        record = _read(exact[0]) if len(exact) == 1 else None
        if record is None:
            names = [path.parent.name for path in found or self.path.glob(f"*/*/{MANIFEST}")]
            what = (
                f"{len(exact)} runs have {run_id!r} in their id."
                if len(exact) > 1
                else f"No run has the id {run_id!r}."
            )
            raise ConfigError(what, hint=did_you_mean(run_id, sorted(names)[-10:]))
        return record


def _read(path: Path) -> RunRecord | None:
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    fields["status"] = Status(fields["status"])
    fields["process"] = Process(**fields["process"])
    return RunRecord(**fields)
