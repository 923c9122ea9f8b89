"""Processes that are killed or paused while they load."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.torture.matrix import over
from tests.torture.processes import all_go_on, kill, paused, wait_until

if TYPE_CHECKING:
    from tests.torture.case import Case

STEPS = ("before_batch", "before_commit", "after_commit", "before_cache", "after_batch")


@over(*STEPS, quick=1)
def test_a_run_that_is_killed_at_any_step_is_made_good_by_the_next(case: Case, fault: str) -> None:
    case.begun()
    case.killed_at(fault)

    case.more()
    case.run()

    case.judge(f"kill -9 at {fault}")


@over("before_commit", "after_commit", quick=1)
def test_the_first_load_that_is_killed_is_made_good_by_the_next(case: Case, fault: str) -> None:
    case.more()
    case.killed_at(fault)

    case.more()
    case.run()

    case.judge(f"kill -9 at {fault} of the first load")


@over("data file", quick=1)
def test_a_run_that_is_killed_while_it_writes_a_data_file_is_made_good_by_the_next(case: Case, fault: str) -> None:
    case.begun()
    before = case.data_files()
    process = case.started()
    wait_until(lambda: case.data_files() != before, process, pause=0.002)
    kill(process)

    case.more()
    case.run()

    case.judge(f"kill -9 while a {fault} is written")


@over(0.0, 0.3, 0.6, quick=0)
def test_a_run_that_is_killed_at_any_moment_is_made_good_by_the_next(case: Case, fault: float) -> None:
    case.begun()
    process = case.started("before_batch=sleep:0.1")
    assert process.stderr
    for line in process.stderr:
        if "batch" in line:
            break
    time.sleep(fault)
    kill(process)

    case.more()
    case.run()

    case.judge("kill -9 at some moment of a batch")


@over("same end", "later end", quick=1)
def test_a_paused_run_that_wakes_up_after_another_took_over_is_told(case: Case, fault: str) -> None:
    case.begun()
    process = case.started("before_commit=stop")
    wait_until(lambda: paused(process), process)
    if fault == "later end":
        case.more()
    case.run()
    ((_, said),) = all_go_on(process)
    case.hear(said, "taken over")

    assert process.returncode == 4
    case.more()
    case.run()

    case.judge(f"paused, overtaken with the {fault}")
