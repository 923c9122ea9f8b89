"""Several runs of one pipeline at the same moment."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import deltaworks
from deltaworks import failpoints
from tests.torture.matrix import over
from tests.torture.processes import PATIENCE, all_go_on, paused, wait_until

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from tests.torture.case import Case

KEYS = ("1", "2", "3", "4")
TWICE = (*KEYS, "4")


@over("the same end", quick=1, turn=2, thorough=("a later end",))
def test_of_two_copies_that_decided_on_the_same_batch_one_lands_and_the_other_is_told(case: Case, fault: str) -> None:
    case.begun()
    first = case.started("before_commit=stop")
    if fault == "a later end":
        wait_until(lambda: paused(first), first)
        case.more()
    second = case.started("before_commit=stop")
    said = all_go_on(first, second)

    assert sorted([first.returncode, second.returncode]) == [0, 4], said
    loser = 0 if first.returncode else 1
    case.hear(said[loser][1], "taken over")
    case.more()
    case.run()

    case.judge(f"two copies, one with {fault}")


def in_processes(case: Case, keys: Sequence[str], _: pytest.MonkeyPatch) -> int:
    """Land keys at the same moment, each in a process of its own; how many of them had landed."""
    runs = [case.started("before_commit=stop", "--key", key, BATCH=key) for key in keys]
    said = all_go_on(*runs)
    assert {run.returncode for run in runs} == {0}, said
    return sum("already landed" in out for out, _ in said)


def in_threads(case: Case, keys: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """The same in one process, whose first tries wait for each other."""
    start, mine = threading.Barrier(len(keys)), threading.local()

    def reach(step: str) -> None:
        if step == "before_commit" and not hasattr(mine, "tried"):
            mine.tried = True
            start.wait(PATIENCE)

    def run(key: str) -> bool:
        found = deltaworks.run(case.pipeline, spark=case.spark, vault=case.vault, key=key, variables={"BATCH": key})
        return found.load.already_landed

    with monkeypatch.context() as changed, ThreadPoolExecutor(len(keys)) as pool:
        changed.setattr(failpoints, "reach", reach)
        return sum(pool.map(run, keys))


@over("a new table", thorough=("an old table", "processes"), quick=1, turn=1)
def test_four_keys_at_once_all_land_and_the_second_of_a_key_has_landed_already(
    case: Case, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.more()
    own = {"type": "filter", "parameters": {"condition": "batch = ${BATCH}"}}
    case.parts = {"extract": case.stream.whole, "transform": [own]}
    if fault == "an old table":
        case.run(key="0", variables={"BATCH": "0"})
    for _ in KEYS[1:]:
        case.more()
    at_once = in_processes if fault == "processes" else in_threads

    assert at_once(case, TWICE, monkeypatch) == 1
    assert all(case.run(key=key, variables={"BATCH": key}).load.already_landed for key in KEYS)

    case.judge(f"four keys at once, {fault}")
