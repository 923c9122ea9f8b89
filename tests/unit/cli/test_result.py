from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from deltaworks.cli.result import print_result
from deltaworks.runs.result import Kept, LoadResult, RunResult, StepResult

COMPACTED = StepResult(
    name="optimize", success=True, version=8, files_added=1, files_removed=12, bytes_added=9, seconds=0.84
)
CLEANED = StepResult(name="vacuum", success=True, version=10, files_removed=5, seconds=0.31)

Shown = Callable[..., tuple[list[str], list[str]]]


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Shown:
    """The lines after the numbers, and those on stderr, for a load with these facts."""

    def call(*after: StepResult, **facts: Any) -> tuple[list[str], list[str]]:
        load = LoadResult(success=True, **facts)
        result = RunResult(run_id="r", pipeline_id="orders", load=load, record="runs/r", after=after)
        print_result(result, "lake/orders/")
        printed = capsys.readouterr()
        return printed.out.splitlines()[3:], printed.err.splitlines()

    return call


def test_the_numbers_of_a_run_stand_under_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    load = LoadResult(success=True, rows_read=1_000_000, rows_inserted=7, version=1234, seconds=1.26)

    print_result(RunResult(run_id="r", pipeline_id="[/orders]", load=load, record="r"), "out")

    title, header, numbers = capsys.readouterr().out.splitlines()
    assert title == "[/orders]"
    assert header.split() == ["read", "inserted", "updated", "deleted", "version", "seconds"]
    assert numbers.split() == ["1,000,000", "7", "0", "0", "1234", "1.3"]


def test_what_is_not_known_is_a_dash(capsys: pytest.CaptureFixture[str]) -> None:
    print_result(RunResult(run_id="r", pipeline_id="orders", load=LoadResult(success=True), record="r"), "out")

    assert capsys.readouterr().out.splitlines()[2].split() == ["-", "0", "0", "0", "-", "0.0"]


@pytest.mark.parametrize(("version", "where"), [(3, " as version 3"), (None, "")])
def test_a_key_that_had_landed_is_one_line(capsys: pytest.CaptureFixture[str], version: int | None, where: str) -> None:
    load = LoadResult.landed_before(version)

    print_result(RunResult(run_id="r", pipeline_id="orders", load=load, record="r"), "out")

    assert capsys.readouterr().out == f"orders: already landed{where}; nothing was written.\n"


def test_a_run_that_went_the_usual_way_is_its_numbers_only(shown: Shown) -> None:
    usual = Kept("positive", "drop", 0)

    assert shown(rows_read=2, rows_inserted=2, version=0, files_added=1, expectations=(usual,)) == ([], [])


def test_rows_that_were_not_written_are_told_and_where_they_are(shown: Shown) -> None:
    rules = (Kept("positive", "drop", 1200), Kept("known", "setAside", 1), Kept("kept", "fail", 0))

    lines, _ = shown(expectations=rules, rows_dropped=1199, rows_set_aside=1, rows_superseded=4)

    assert lines == [
        "positive: 1,200 rows, dropped",
        "known: 1 row, set aside",
        "1,199 rows dropped",
        "1 row set aside in lake/orders_aside",
        "4 older rows of a key left out",
    ]


def test_an_upsert_says_how_much_of_the_table_it_touched(shown: Shown) -> None:
    lines, _ = shown(files_before=50, files_read=3, files_removed=2)

    assert lines == ["3 of 50 files read, 2 rewritten"]


def test_a_load_that_needed_several_tries_says_why(shown: Shown) -> None:
    lines, _ = shown(attempts=3, notes=("the rows lack [/x]",))

    assert lines == ["landed at attempt 3: other writers were faster", "note: the rows lack [/x]"]


def test_each_step_after_the_load_is_a_line(shown: Shown) -> None:
    nothing = StepResult(name="zOrder", success=True, seconds=0.1)

    lines, warnings = shown(COMPACTED, CLEANED, nothing)

    assert lines == [
        "optimize: 12 files became 1, version 8, 0.8 s",
        "vacuum: 5 files removed, version 10, 0.3 s",
        "zOrder: nothing to do, 0.1 s",
    ]
    assert warnings == []


def test_a_step_that_failed_after_the_load_is_a_warning(shown: Shown) -> None:
    failed = StepResult(name="vacuum", success=False, error="vacuum: No [/way].", hint="Try later.")

    lines, warnings = shown(COMPACTED, failed)

    assert lines == ["optimize: 12 files became 1, version 8, 0.8 s"]
    assert warnings == ["Warning: The rows have landed, but vacuum failed: No [/way].", "Hint: Try later."]
