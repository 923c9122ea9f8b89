"""The record of one run: opened at its start, closed at its end, whole at every moment."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from deltaworks.runs.process import Process

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deltaworks.errors import DeltaworksError
    from deltaworks.runs.result import LoadResult, Standing, StepResult


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
    part: str | None = None  # which of several tables
    config: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    plan: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] | None = None
    standing: dict[str, Any] | None = None  # how far an incremental pipeline has got
    after: list[dict[str, Any]] = field(default_factory=list)  # the steps once the rows had landed
    error: dict[str, Any] | None = None

    def landed(self, result: LoadResult, standing: Standing | None = None) -> RunRecord:
        """Note that the rows are in the table, while the run goes on."""
        return replace(self, result=result.to_dict(), standing=asdict(standing) if standing else None)

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

    @classmethod
    def from_json(cls, text: bytes) -> RunRecord | None:
        """A record; none when it is not whole. Keys of a later version are left out."""
        try:
            found = json.loads(text)
            known = {name: found[name] for name in cls.__dataclass_fields__ if name in found}
            return cls(**known | {"status": Status(found["status"]), "process": Process(**found["process"])})
        except (ValueError, TypeError, KeyError):
            return None


def new_run_id() -> str:
    """A name no other run has; names sort by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"


def now() -> str:
    """The time, as records spell it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
