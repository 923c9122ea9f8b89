"""Processes that are killed on either side of their commit, which a proxy in front of the bucket holds up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.torture.buckets import COMMIT
from tests.torture.matrix import over
from tests.torture.processes import PATIENCE, kill, wait_until

if TYPE_CHECKING:
    from tests.servers.faults.client import Faults
    from tests.torture.case import Case


def killed_while(case: Case, faults: Faults, kind: Any, happened: str) -> None:
    """Kill a process once that has happened to its commit."""
    faults.add(kind, method="PUT", path=COMMIT, seconds=PATIENCE)
    process = case.started()
    wait_until(lambda: happened in [seen.happened for seen in faults.seen()], process)
    kill(process)
    faults.clear()


@over("data files and commit", quick=1)
def test_a_run_that_is_killed_between_its_data_files_and_its_commit_is_made_good_by_the_next(
    shaky: Case, fault: str, faults: Faults
) -> None:
    shaky.begun()
    version, files = shaky.table().version, shaky.data_files()
    killed_while(shaky, faults, "hang", "hung")
    assert shaky.data_files() > files
    assert shaky.table().version == version

    shaky.more()
    shaky.run()

    shaky.judge(f"kill -9 between {fault}")


@over("commit and its acknowledgement", quick=1, turn=1)
def test_a_commit_whose_run_was_killed_before_it_knew_is_not_made_again(
    shaky: Case, fault: str, faults: Faults
) -> None:
    shaky.begun()
    version = shaky.table().version
    killed_while(shaky, faults, "held", "held 200")
    assert shaky.table().version == version + 1
    assert shaky.run().load.batches == 0

    shaky.more()
    shaky.run()

    shaky.judge(f"kill -9 between {fault}")
