from __future__ import annotations

import json
from typing import TYPE_CHECKING

from deltalake import DeltaTable
from tests.unit.tables import append, land, rewrite, stamp

from deltaworks.lake.commit import Commit, Mark
from deltaworks.lake.landing import Landing, landed
from deltaworks.lake.log import Log

if TYPE_CHECKING:
    from pathlib import Path

MONDAY = "deltaworks/orders#monday"


def found(path: Path, commit: Commit, since: int = -1) -> tuple[Landing, int | None]:
    landing, where = landed(Log(str(path)), commit, since)
    return landing, where.version if where else None


def test_a_commit_of_ours_is_found_by_its_run(tmp_path: Path) -> None:
    append(tmp_path)
    append(tmp_path, commit=stamp("run-2"))
    append(tmp_path)

    assert found(tmp_path, Commit(run_id="run-2")) == (Landing.OURS, 1)
    assert found(tmp_path, Commit(run_id="run-2"), since=1) == (Landing.ABSENT, None)
    assert found(tmp_path, Commit(run_id="run-9")) == (Landing.ABSENT, None)


def test_a_mark_of_ours_is_ours(tmp_path: Path) -> None:
    land(tmp_path, "monday", run="run-2")

    assert found(tmp_path, Commit(run_id="run-2", mark=Mark(MONDAY, 1))) == (Landing.OURS, 0)


def test_a_mark_that_another_run_put_there_is_taken(tmp_path: Path) -> None:
    land(tmp_path, "monday", run="run-1")

    assert found(tmp_path, Commit(run_id="run-2", mark=Mark(MONDAY, 1))) == (Landing.TAKEN, 0)


def test_a_mark_that_another_program_put_there_is_taken(tmp_path: Path) -> None:
    append(tmp_path)
    rewrite(tmp_path, 1, json.dumps({"txn": {"appId": MONDAY, "version": 1}}))

    assert found(tmp_path, Commit(run_id="run-2", mark=Mark(MONDAY, 1))) == (Landing.TAKEN, 1)


def test_our_run_without_our_mark_has_not_landed(tmp_path: Path) -> None:
    append(tmp_path, commit=stamp("run-2"))

    assert found(tmp_path, Commit(run_id="run-2", mark=Mark(MONDAY, 1))) == (Landing.ABSENT, None)


def test_a_compaction_that_carries_our_stamp_is_not_the_load(tmp_path: Path) -> None:
    append(tmp_path)
    append(tmp_path)
    DeltaTable(tmp_path).optimize.compact(commit_properties=stamp("run-2", key="monday"))

    assert found(tmp_path, Commit(run_id="run-2")) == (Landing.ABSENT, None)
    assert found(tmp_path, Commit(run_id="run-2", mark=Mark(MONDAY, 1))) == (Landing.ABSENT, None)


def test_a_load_is_found_behind_the_compaction_that_followed_it(tmp_path: Path) -> None:
    append(tmp_path)
    append(tmp_path, commit=stamp("run-2"))
    DeltaTable(tmp_path).optimize.compact(commit_properties=stamp("run-2"))

    assert found(tmp_path, Commit(run_id="run-2")) == (Landing.OURS, 1)


def test_nothing_has_landed_where_there_is_no_table(tmp_path: Path) -> None:
    assert found(tmp_path, Commit(run_id="run-2")) == (Landing.ABSENT, None)
