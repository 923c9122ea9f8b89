"""Tables that others write to while a pipeline lands its batches."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.torture.buckets import into_bucket
from tests.torture.matrix import over
from tests.torture.others import add

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.torture.case import Case

MOST, BATCHES = 16, 3
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture(scope="module")
def others() -> Iterator[ProcessPoolExecutor]:
    """Processes for the other writers."""
    with ProcessPoolExecutor(MOST, mp_context=SPAWN) as pool:
        yield pool


@pytest.fixture(params=["disk", "bucket"])
def shared(request: pytest.FixtureRequest, case: Case) -> Case:
    """The pipeline, into either."""
    if request.param == "bucket":
        into_bucket(case, request.getfixturevalue("s3"), request.getfixturevalue("bucket"))
    return case


@over(4, thorough=(2, 8, 16), quick=1)
def test_rows_of_many_writers_and_of_the_pipeline_are_all_there_once(
    shared: Case, fault: int, others: ProcessPoolExecutor
) -> None:
    shared.params = {"maxCommitAttempts": 100}
    shared.more()
    shared.run()
    with SPAWN.Manager() as manager:
        start, done = manager.Barrier(fault + 1), manager.Event()
        writers = range(1, fault + 1)
        adding = [others.submit(add, shared.target, dict(shared.options or {}), each, start, done) for each in writers]
        start.wait(60)
        for _ in range(BATCHES):
            shared.more()
            shared.run()
        done.set()
        for each in adding:
            shared.expect(each.result())

    shared.judge(f"{fault} other writers")
