from __future__ import annotations

import re

from tests.unit.runs.records import record

from deltaworks.errors import RunError, StoppedError
from deltaworks.runs.record import Status, new_run_id, now
from deltaworks.runs.result import LoadResult


def test_a_run_that_landed_is_closed_with_its_numbers() -> None:
    closed = record().landed(LoadResult(success=True, rows_read=3, version=7)).succeeded()

    assert closed.status is Status.SUCCEEDED
    assert closed.result is not None
    assert (closed.result["rows_read"], closed.result["version"]) == (3, 7)
    assert closed.ended is not None


def test_a_run_that_failed_is_closed_with_why() -> None:
    closed = record().failed(RunError("It broke.", hint="Mend it."))

    assert closed.status is Status.FAILED
    assert closed.error == {"type": "RunError", "message": "It broke.", "hint": "Mend it.", "exit_code": 1}


def test_a_run_that_was_stopped_is_closed_as_interrupted() -> None:
    assert record().failed(StoppedError("Stopped.", hint="Run it again.")).status is Status.INTERRUPTED


def test_no_two_runs_have_the_same_id() -> None:
    ids = {new_run_id() for _ in range(1000)}

    assert len(ids) == 1000
    assert all(re.fullmatch(r"\d{8}T\d{6}-[0-9a-f]{8}", run_id) for run_id in ids)


def test_times_are_in_utc_to_the_millisecond() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", now())
