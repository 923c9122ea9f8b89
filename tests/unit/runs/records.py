"""Run records for tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from deltaworks.runs.process import Process
from deltaworks.runs.record import RunRecord, Status


def record(run_id: str = "20240101T000000-aaaa0000", **changes: Any) -> RunRecord:
    """The record of a run that this process is in the middle of."""
    opened = RunRecord(
        run_id=run_id,
        pipeline_id="orders",
        status=Status.RUNNING,
        started="2024-01-01T00:00:00.000+00:00",
        process=Process.current(),
        user="ana",
    )
    return replace(opened, **changes)
