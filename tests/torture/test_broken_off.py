"""Runs that fail at a step, that are overtaken, or that find wrong notes: all in one session."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.increments import broken_off, meanwhile
from tests.torture.matrix import over

if TYPE_CHECKING:
    import pytest

    from tests.torture.case import Case

STEPS = ("before_batch", "before_commit", "after_commit", "before_cache", "after_batch")


def notes(case: Case) -> Path:
    return Path(case.target, "_deltaworks", "torture.json")


@over(*STEPS)
def test_a_run_that_fails_at_any_step_is_made_good_by_the_next(
    case: Case, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.begun()
    with broken_off(monkeypatch, fault):
        case.run()
    case.told.append("the failpoint")

    case.more()
    case.run()

    case.judge(f"failure at {fault}")


@over("before_commit", "after_commit")
def test_the_first_load_that_fails_at_any_step_is_made_good_by_the_next(
    case: Case, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.more()
    with broken_off(monkeypatch, fault):
        case.run()
    case.told.append("the failpoint")

    case.more()
    case.run()

    case.judge(f"failure at {fault} of the first load")


@over("before_batch", "before_commit")
def test_a_copy_that_read_further_wins_and_the_other_is_told(
    case: Case, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.begun()

    def another() -> None:
        case.more()
        case.run()

    meanwhile(monkeypatch, fault, another)
    case.fails("taken over")
    case.run()

    case.judge(f"overtaken at {fault}")


@over("lost", "stale", "damaged")
def test_notes_beside_the_table_cannot_mislead(case: Case, fault: str) -> None:
    case.begun()
    kept = shutil.copy(notes(case), case.folder / "kept.json")
    case.run()
    if fault == "lost":
        shutil.rmtree(notes(case).parent)
    elif fault == "stale":
        shutil.copy(kept, notes(case))
    else:
        notes(case).write_bytes(notes(case).read_bytes()[:40])

    case.more()
    case.run()

    case.judge(f"{fault} notes")
