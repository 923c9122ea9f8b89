from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import CommitProperties, DeltaTable
from tests.unit.tables import append, by_hand, clean_up, commit_file, deliver, land, restore, stamp

from deltaworks.lake import positions
from deltaworks.lake.commit import Commit, Mark, Position
from deltaworks.lake.log import Log
from deltaworks.lake.moves import move
from deltaworks.lake.positions import (
    GivenUpError,
    PastGoneError,
    PositionLostError,
    Reached,
    RecreatedError,
    ReplacedError,
    RowsGoneError,
    TakenBackError,
)
from deltaworks.lake.table import Table, VersionNotFoundError, newest, open_table

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = "deltaworks/orders"


def reached(path: Path, pipeline: str = "orders") -> Reached | None:
    log = Log(str(path))
    return positions.reached(log, newest(log), pipeline)


def end(path: Path, pipeline: str = "orders") -> Any:
    found = reached(path, pipeline)
    assert found is not None
    return found.position.end


def remember(path: Path, **changes: Any) -> Reached:
    """Note what the log says, or something else."""
    log = Log(str(path))
    found = positions.last_known(log, newest(log), "orders")
    assert found is not None
    positions.remember(log, "orders", replace(found, **changes))
    return found


def cache(path: Path) -> Path:
    return path / "_deltaworks/orders.json"


def moved(path: Path, to: Any = 5, *, pipeline: str = "orders", adopts: str | None = None, why: str = "asked") -> Any:
    """Let a pipeline go on from elsewhere."""
    table = open_table(path)
    number = positions.last_batch(table.log, table, pipeline) + 1
    commit = Commit(
        run_id=f"move-{number}",
        pipeline=pipeline,
        batch=number,
        position=Position(source="shop", end=to),
        why=why,
        adopts=adopts,
        mark=Mark(f"deltaworks/{pipeline}", number),
        seen=table.version,
    )
    return move(table, commit)


# What the log says


def test_a_pipeline_has_not_begun_where_there_is_no_table(tmp_path: Path) -> None:
    assert reached(tmp_path) is None
    assert positions.last_batch(Log(str(tmp_path)), None, "orders") == 0


def test_a_pipeline_has_not_begun_where_only_others_have_landed(tmp_path: Path) -> None:
    append(tmp_path)
    land(tmp_path, "monday")
    deliver(tmp_path, 1, pipeline="returns")

    assert reached(tmp_path) is None


def test_a_pipeline_goes_on_where_its_last_batch_ended(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    version = deliver(tmp_path, 2, run="run-2")
    append(tmp_path)

    found = reached(tmp_path)

    assert found is not None
    assert (found.batch, found.version, found.seen) == (2, version, version - 1)
    assert found.position == Position(source="shop", start=10, end=20)
    assert found.by == "run run-2 (ann@shop)"
    assert found.at == Log(str(tmp_path)).commit(version).timestamp
    assert found.table_id == open_table(tmp_path).id


def test_a_position_counts_only_in_the_commit_that_holds_the_mark(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    # As a session's conf stamps what it commits by the way.
    text = Commit(run_id="run-2", pipeline="orders", batch=2, position=Position(source="shop", end=20)).to_json()
    version = append(tmp_path, commit=CommitProperties(custom_metadata={"userMetadata": text}))

    assert end(tmp_path) == at_version(tmp_path, version) == 10


def compacted(path: Path, pipeline: str) -> None:
    """A compaction of Spark's, which has the stamp and the mark of the session that asked for it."""
    commit = Commit(run_id="run-1", pipeline=pipeline, batch=1, position=Position(source="shop", end=99))
    info = {"operation": "OPTIMIZE", "userMetadata": commit.to_json()}
    by_hand(path, {"commitInfo": info}, {"txn": {"appId": f"deltaworks/{pipeline}", "version": 1}})


def test_a_compaction_that_carries_the_mark_is_not_the_batch(tmp_path: Path) -> None:
    first = deliver(tmp_path, 1)
    append(tmp_path)
    compacted(tmp_path, "orders")

    found = reached(tmp_path)

    assert found is not None
    assert (found.version, found.position.end) == (first, 10)


def test_a_position_for_another_pipeline_is_not_taken_for_ours(tmp_path: Path) -> None:
    append(tmp_path)
    text = Commit(run_id="run-1", pipeline="returns", position=Position(source="shop", end=20)).to_json()
    by_hand(tmp_path, {"commitInfo": {"userMetadata": text}}, {"txn": {"appId": ORDERS, "version": 1}})

    with pytest.raises(PositionLostError):
        reached(tmp_path)


def test_a_mark_that_another_program_made_says_no_position(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    by_hand(tmp_path, {"txn": {"appId": ORDERS, "version": 2}})

    with pytest.raises(PositionLostError, match="holds batch 2 of pipeline 'orders'") as caught:
        reached(tmp_path)

    assert "state set FILE --position" in caught.value.hint


def test_a_table_that_was_made_but_never_loaded_begins_at_the_beginning(tmp_path: Path) -> None:
    append(tmp_path, commit=stamp("run-1"))

    assert reached(tmp_path) is None


# The cache


class Watched(Log):
    """A log that knows which of its commits were read."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri)
        self.read: list[int] = []

    def actions(self, version: int) -> list[dict[str, Any]]:
        self.read.append(version)
        return super().actions(version)


def test_with_a_cache_only_the_one_commit_that_it_names_is_read(tmp_path: Path) -> None:
    append(tmp_path)
    deliver(tmp_path, 1)
    expected = remember(tmp_path)
    append(tmp_path)
    log = Watched(str(tmp_path))

    assert positions.last_known(log, Table(log), "orders") == expected
    assert log.read == [1]


@pytest.mark.parametrize(
    "lie",
    [
        {"position": Position(source="shop", start=0, end=99)},
        {"position": Position(source="elsewhere", start=0, end=10)},
        {"run_id": "run-9"},
        {"seen": 7},
        {"version": 0},
        {"version": 9},
        {"batch": 9},
        {"why": "so"},
        {"adopted_by": "returns"},
    ],
)
def test_a_cache_that_says_other_than_the_log_does_not_count(tmp_path: Path, lie: dict[str, Any]) -> None:
    append(tmp_path)
    deliver(tmp_path, 1)
    remember(tmp_path, **lie)

    assert end(tmp_path) == 10


def test_a_cache_that_lags_behind_does_not_count(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    remember(tmp_path)
    deliver(tmp_path, 2)

    assert end(tmp_path) == 20


@pytest.mark.parametrize(
    "text", [b"", b"\xff", b"null", b"[]", b"{}", b'{"position": 1}', b'{"position": {}}', b"[" * 20]
)
def test_a_cache_that_nobody_can_read_does_not_count(tmp_path: Path, text: bytes) -> None:
    deliver(tmp_path, 1)
    remember(tmp_path)
    cache(tmp_path).write_bytes(text)

    assert end(tmp_path) == 10


@pytest.mark.parametrize(("name", "value"), [("version", "first"), ("version", None), ("batch", [])])
def test_a_cache_with_values_of_another_kind_does_not_count(tmp_path: Path, name: str, value: object) -> None:
    deliver(tmp_path, 1)
    remember(tmp_path)
    cache(tmp_path).write_text(json.dumps(json.loads(cache(tmp_path).read_text()) | {name: value}))

    assert end(tmp_path) == 10


def test_a_cache_of_a_later_version_of_this_program_is_understood(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    remember(tmp_path)
    cache(tmp_path).write_text(json.dumps(json.loads(cache(tmp_path).read_text()) | {"new": 1}))
    clean(tmp_path)

    assert end(tmp_path) == 10


def test_a_cache_that_cannot_be_written_does_not_undo_what_landed(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    (tmp_path / "_deltaworks").write_text("in the way")

    remember(tmp_path)

    assert end(tmp_path) == 10


def test_neither_engine_s_vacuum_removes_the_cache(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    remember(tmp_path)

    DeltaTable(tmp_path).vacuum(0, dry_run=False, enforce_retention_duration=False, full=True)

    assert cache(tmp_path).exists()


# Log clean-up


def clean(path: Path) -> None:
    """Remove every commit but the newest, which is another's."""
    clean_up(path, before=append(path))


def test_the_cache_counts_where_log_clean_up_took_the_commit(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    deliver(tmp_path, 2)
    remember(tmp_path)
    clean(tmp_path)

    assert end(tmp_path) == 20


def test_without_cache_a_commit_that_is_gone_leaves_no_position(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    clean(tmp_path)

    with pytest.raises(PositionLostError, match="holds batch 1 of pipeline 'orders', but neither its log nor"):
        reached(tmp_path)


def test_the_cache_of_an_earlier_batch_does_not_count_for_one_that_is_gone(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    remember(tmp_path)
    deliver(tmp_path, 2)
    clean(tmp_path)

    with pytest.raises(PositionLostError, match="holds batch 2"):
        reached(tmp_path)


# RESTORE


def test_a_batch_that_was_taken_back_is_told(tmp_path: Path) -> None:
    append(tmp_path)
    deliver(tmp_path, 1)
    deliver(tmp_path, 2)
    restore(tmp_path, 1)

    with pytest.raises(TakenBackError, match="had landed batch 2 as version 2: rows went back") as caught:
        reached(tmp_path)

    assert "state rewind FILE --to-version N" in caught.value.hint
    assert "state keep FILE" in caught.value.hint
    assert caught.value.exit_code == 4


def test_a_batch_that_was_taken_back_is_told_with_a_cache_too(tmp_path: Path) -> None:
    append(tmp_path)
    deliver(tmp_path, 1)
    remember(tmp_path)
    restore(tmp_path, 0)

    with pytest.raises(TakenBackError):
        reached(tmp_path)


def test_a_restore_to_the_last_batch_or_later_takes_nothing_back(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    append(tmp_path)
    append(tmp_path)
    restore(tmp_path, 1)
    restore(tmp_path, 0)

    assert end(tmp_path) == 10


def test_a_restore_that_was_undone_takes_nothing_back(tmp_path: Path) -> None:
    append(tmp_path)
    deliver(tmp_path, 1)
    restore(tmp_path, 0)
    restore(tmp_path, 1)

    assert end(tmp_path) == 10


def test_a_restore_while_a_batch_was_on_its_way_is_told(tmp_path: Path) -> None:
    append(tmp_path)
    deliver(tmp_path, 1)
    restore(tmp_path, 0)
    deliver(tmp_path, 2, seen=1)

    with pytest.raises(TakenBackError, match="batch 2"):
        reached(tmp_path)


def test_a_restore_before_a_batch_was_decided_is_none_of_its_business(tmp_path: Path) -> None:
    append(tmp_path)
    append(tmp_path)
    restore(tmp_path, 0)
    deliver(tmp_path, 1)
    append(tmp_path)

    assert end(tmp_path) == 10


# Tables that are others


def remade(path: Path) -> None:
    """Drop the table, but not what is noted beside it, and make one anew."""
    shutil.rmtree(path / "_delta_log")
    append(path)


def replaced(path: Path) -> None:
    """Make the table another one in the same log, as CREATE OR REPLACE does."""
    actions = [json.loads(line) for line in commit_file(path, 0).read_text().splitlines()]
    metadata = next(action["metaData"] for action in actions if "metaData" in action)
    by_hand(path, {"metaData": metadata | {"id": "another"}})


def test_a_table_that_was_dropped_is_told_while_a_note_is_left(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    remember(tmp_path)
    shutil.rmtree(tmp_path / "_delta_log")

    with pytest.raises(RecreatedError, match="not the table any more into which pipeline 'orders' had landed batch 1"):
        reached(tmp_path)


def test_a_table_that_was_made_anew_is_told_while_a_note_is_left(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    remember(tmp_path)
    remade(tmp_path)

    with pytest.raises(RecreatedError) as caught:
        reached(tmp_path)

    assert "run FILE --full-refresh" in caught.value.hint
    assert "state keep FILE" in caught.value.hint
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("noted", [False, True])
def test_a_table_that_was_replaced_in_its_own_log_is_told(tmp_path: Path, noted: bool) -> None:
    deliver(tmp_path, 1)
    if noted:
        remember(tmp_path)
    replaced(tmp_path)

    with pytest.raises(RecreatedError):
        reached(tmp_path)


def test_a_table_that_has_forgotten_its_mark_is_told(tmp_path: Path) -> None:
    append(tmp_path)
    deliver(tmp_path, 1)
    remember(tmp_path)
    commit_file(tmp_path, 1).unlink()

    with pytest.raises(RecreatedError):
        reached(tmp_path)


def test_a_folder_that_is_gone_with_all_that_was_in_it_is_a_new_beginning(tmp_path: Path) -> None:
    deliver(tmp_path / "t", 1)
    remember(tmp_path / "t")
    shutil.rmtree(tmp_path / "t")
    append(tmp_path / "t")

    assert reached(tmp_path / "t") is None


def test_what_was_last_known_of_a_table_that_was_made_anew_is_still_known(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    expected = remember(tmp_path)
    remade(tmp_path)
    log = Log(str(tmp_path))

    assert positions.last_known(log, newest(log), "orders") == expected


def test_batches_are_counted_on_where_a_table_was_made_anew(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    deliver(tmp_path, 2)
    remember(tmp_path)
    log = Log(str(tmp_path))
    before = positions.last_batch(log, newest(log), "orders")
    remade(tmp_path)

    assert (before, positions.last_batch(log, newest(log), "orders")) == (2, 2)


def test_a_full_load_into_a_table_that_was_made_anew_is_a_new_beginning(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    remember(tmp_path)
    remade(tmp_path)
    deliver(tmp_path, 2)

    assert end(tmp_path) == 20


@pytest.mark.parametrize("noted", [False, True])
def test_a_table_that_was_replaced_while_a_batch_was_on_its_way_is_told(tmp_path: Path, noted: bool) -> None:
    deliver(tmp_path, 1)
    table = open_table(tmp_path).id
    replaced(tmp_path)
    deliver(tmp_path, 2, table=table, seen=0)
    if noted:
        remember(tmp_path)

    with pytest.raises(RecreatedError, match="had landed batch 2"):
        reached(tmp_path)


def test_a_table_that_was_made_anew_while_a_batch_was_on_its_way_is_told(tmp_path: Path) -> None:
    append(tmp_path)
    deliver(tmp_path, 1)
    table = open_table(tmp_path).id
    remade(tmp_path)
    deliver(tmp_path, 2, table=table, seen=1)

    with pytest.raises(RecreatedError):
        reached(tmp_path)


def test_a_commit_of_an_earlier_version_of_this_program_does_not_say_which_table_it_was(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    version = deliver(tmp_path, 2)
    text = commit_file(tmp_path, version).read_text()
    commit_file(tmp_path, version).write_text(text.replace(f',\\"table\\":\\"{open_table(tmp_path).id}\\"', ""))

    found = reached(tmp_path)

    assert found is not None
    assert (found.batch, found.decided_on) == (2, None)


# Full refreshes of other pipelines


@pytest.mark.parametrize("noted", [False, True])
def test_rows_that_another_pipeline_s_full_refresh_replaced_are_told(tmp_path: Path, noted: bool) -> None:
    deliver(tmp_path, 1)
    if noted:
        remember(tmp_path)
    append(tmp_path)
    deliver(tmp_path, 1, pipeline="returns", anew=True)
    append(tmp_path)

    with pytest.raises(ReplacedError, match=r"up to batch 1 were replaced by .*: returns, version 2") as caught:
        reached(tmp_path)

    assert "state keep FILE" in caught.value.hint
    assert end(tmp_path, "returns") == 10


def test_a_full_refresh_while_a_batch_was_on_its_way_is_told(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    deliver(tmp_path, 1, pipeline="returns", anew=True)
    deliver(tmp_path, 2, seen=0)

    with pytest.raises(ReplacedError):
        reached(tmp_path)


def test_a_full_refresh_of_one_s_own_or_before_one_began_is_no_hindrance(tmp_path: Path) -> None:
    deliver(tmp_path, 1, pipeline="returns", anew=True)
    deliver(tmp_path, 1)
    deliver(tmp_path, 2, anew=True)
    deliver(tmp_path, 3)
    append(tmp_path)

    assert end(tmp_path) == 30


def test_what_only_has_the_stamp_of_a_full_refresh_replaces_nothing(tmp_path: Path) -> None:
    deliver(tmp_path, 1, pipeline="returns", anew=True)
    deliver(tmp_path, 1)
    compacted(tmp_path, "returns")
    text = Commit(run_id="run-1", pipeline="returns", batch=1, position=Position(source="shop", end=99)).to_json()
    append(tmp_path, commit=CommitProperties(custom_metadata={"userMetadata": text}))

    assert end(tmp_path) == 10


def test_a_full_refresh_that_a_restore_undid_has_replaced_nothing(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    deliver(tmp_path, 1, pipeline="returns", anew=True)
    restore(tmp_path, 0)

    assert end(tmp_path) == 10


def test_a_position_that_was_moved_after_another_s_full_refresh_counts(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    deliver(tmp_path, 1, pipeline="returns", anew=True)
    moved(tmp_path, 10)

    assert end(tmp_path) == 10


# Positions that somebody moved


def test_a_position_that_was_moved_after_a_restore_counts(tmp_path: Path) -> None:
    append(tmp_path)
    deliver(tmp_path, 1)
    deliver(tmp_path, 2)
    restore(tmp_path, 1)
    moved(tmp_path, 10)

    assert end(tmp_path) == 10
    deliver(tmp_path, 4)
    assert end(tmp_path) == 40


def test_a_position_that_was_moved_in_a_table_that_was_made_anew_counts(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    remember(tmp_path)
    remade(tmp_path)

    found = moved(tmp_path, 10)

    assert (found.batch, end(tmp_path)) == (2, 10)


def test_a_full_load_after_a_restore_is_a_new_beginning(tmp_path: Path) -> None:
    append(tmp_path)
    deliver(tmp_path, 1)
    restore(tmp_path, 0)
    deliver(tmp_path, 2)

    assert end(tmp_path) == 20


def test_moves_are_told_with_their_reasons_newest_first(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    moved(tmp_path, 3, why="first")
    deliver(tmp_path, 3)
    moved(tmp_path, 5, why="second")
    moved(tmp_path, 7, pipeline="returns", why="another's")

    table = open_table(tmp_path)

    assert [(each.why, each.position.end) for each in positions.moves(table, "orders")] == [("second", 5), ("first", 3)]
    assert list(positions.moves(table, "orders", within=1)) == []


def test_a_move_comes_back_from_the_cache_as_from_the_log(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    moved(tmp_path, 5)
    noted = reached(tmp_path)
    cache(tmp_path).unlink()

    assert noted == reached(tmp_path)
    assert noted is not None
    assert noted.why == "asked"


# Positions of the past


def at_version(path: Path, version: int) -> Any:
    found = positions.at_version(open_table(path), "orders", version)
    return found and found.position.end


def test_a_version_tells_how_far_its_rows_went(tmp_path: Path) -> None:
    append(tmp_path)
    deliver(tmp_path, 1)
    append(tmp_path)
    deliver(tmp_path, 2)

    assert [at_version(tmp_path, version) for version in range(4)] == [None, 10, 10, 20]


def test_a_version_after_a_restore_has_the_rows_that_were_restored(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    deliver(tmp_path, 2)
    back = restore(tmp_path, 0)
    kept = moved(tmp_path, 20).version
    forth = restore(tmp_path, 1)

    assert [at_version(tmp_path, version) for version in (back, kept, forth)] == [10, 20, 20]


def test_rows_that_a_restore_took_are_none_to_go_on_behind(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    deliver(tmp_path, 2)
    restore(tmp_path, 0)
    table = open_table(tmp_path)
    gone, there = (positions.at_version(table, "orders", version) for version in (1, 2))
    assert gone
    assert there

    positions.require_standing(table, "orders", there, 2)
    with pytest.raises(RowsGoneError, match="had at version 1: going on behind them") as caught:
        positions.require_standing(table, "orders", gone, 1)

    assert "--to-version 2" in caught.value.hint


def test_rows_of_a_table_that_was_replaced_are_none_to_go_on_behind(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    replaced(tmp_path)
    table = open_table(tmp_path)
    before, after = (positions.at_version(table, "orders", version) for version in (0, 1))

    for found in (before, after):
        assert found is not None
        with pytest.raises(RecreatedError):
            positions.require_standing(table, "orders", found, 0)


def test_rows_that_another_s_full_refresh_replaced_are_none_to_go_on_behind(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    deliver(tmp_path, 1, pipeline="returns", anew=True)
    table = open_table(tmp_path)
    before = positions.at_version(table, "orders", 0)

    assert before is not None
    assert positions.at_version(table, "orders", 1) is None
    with pytest.raises(ReplacedError):
        positions.require_standing(table, "orders", before, 0)


@pytest.mark.parametrize("version", [-1, 2])
def test_a_version_that_is_not_there_has_no_position(tmp_path: Path, version: int) -> None:
    deliver(tmp_path, 1)
    append(tmp_path)

    with pytest.raises(VersionNotFoundError, match=f"Version {version} of .* does not exist"):
        at_version(tmp_path, version)


def test_a_past_that_log_clean_up_took_is_told(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    append(tmp_path)
    version = append(tmp_path)
    deliver(tmp_path, 2)
    clean_up(tmp_path, before=version)

    assert at_version(tmp_path, 3) == 20
    with pytest.raises(PastGoneError, match="begins with version 2, and nothing from there to version 2 says"):
        at_version(tmp_path, 2)
    with pytest.raises(VersionNotFoundError):
        at_version(tmp_path, 1)


# Other pipelines


def others(path: Path, source: str = "shop", pipeline: str = "orders") -> list[str]:
    table = open_table(path)
    return list(positions.others(table.log, table, pipeline, source))


def test_others_are_those_who_hold_a_position_of_the_same_source(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    deliver(tmp_path, 1, pipeline="old-orders")
    deliver(tmp_path, 1, pipeline="returns", source="elsewhere")
    land(tmp_path, "monday")

    assert others(tmp_path) == ["old-orders"]
    assert others(tmp_path, pipeline="new") == ["old-orders", "orders"]
    assert others(tmp_path, source="elsewhere") == ["returns"]


def test_another_is_known_by_its_cache_where_log_clean_up_took_its_commit(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    remember(tmp_path)
    clean(tmp_path)

    assert others(tmp_path, pipeline="new") == ["orders"]


def test_another_of_which_nobody_knows_the_source_may_be_of_the_same(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    clean(tmp_path)

    with pytest.raises(PositionLostError, match="holds batch 1 of pipeline 'orders'"):
        others(tmp_path, pipeline="new")


def test_one_that_was_adopted_is_another_no_more(tmp_path: Path) -> None:
    deliver(tmp_path, 1, pipeline="old-orders")
    moved(tmp_path, 10, adopts="old-orders")

    assert others(tmp_path) == []
    assert end(tmp_path) == 10


@pytest.mark.parametrize("lost", ["nothing", "the cache", "the commit"])
def test_one_that_was_adopted_is_told_so(tmp_path: Path, lost: str) -> None:
    deliver(tmp_path, 1, pipeline="old-orders")
    moved(tmp_path, 10, adopts="old-orders")
    if lost == "the cache":
        shutil.rmtree(tmp_path / "_deltaworks")
    if lost == "the commit":
        clean(tmp_path)

    with pytest.raises(GivenUpError, match="'orders' goes on in its place since batch 2, by run move-1"):
        reached(tmp_path, "old-orders")
    assert others(tmp_path) == []


def test_one_that_was_adopted_can_take_its_place_back(tmp_path: Path) -> None:
    deliver(tmp_path, 1, pipeline="old-orders")
    moved(tmp_path, 10, adopts="old-orders")
    moved(tmp_path, 10, pipeline="old-orders", adopts="orders")

    assert end(tmp_path, "old-orders") == 10
    with pytest.raises(GivenUpError):
        reached(tmp_path)


def test_the_cache_is_plain_json_that_anybody_may_read(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    found = remember(tmp_path)

    said = json.loads(cache(tmp_path).read_text())

    assert said == asdict(found) | {"position": {"source": "shop", "from": 0, "to": 10}}


def test_a_table_opened_before_a_batch_knows_nothing_of_it(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    table = Table(Log(str(tmp_path)))
    deliver(tmp_path, 2)

    found = positions.reached(table.log, table, "orders")

    assert found is not None
    assert found.position.end == 10
