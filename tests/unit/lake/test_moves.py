from __future__ import annotations

import json
import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable
from tests.unit.tables import append, by_hand, commit_file, deliver, restore

from deltaworks.errors import ConfigError
from deltaworks.lake import moves, positions
from deltaworks.lake.commit import Commit, Mark, Position
from deltaworks.lake.landing import Landing, landed
from deltaworks.lake.log import Log
from deltaworks.lake.moves import MOST_TRIES, OvertakenError, move
from deltaworks.lake.storage import UnreachableError
from deltaworks.lake.table import Table, open_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from deltaworks.lake.positions import Reached


def asked(table: Table, to: Any = 5, *, run: str = "move-1", pipeline: str = "orders", **more: Any) -> Commit:
    """A move, decided on the table as it is."""
    number = positions.last_batch(table.log, table, pipeline) + 1
    return Commit(
        run_id=run,
        pipeline=pipeline,
        batch=number,
        position=Position(source="shop", start=10, end=to),
        user="ann",
        host="shop",
        why="the shop asked",
        mark=Mark(f"deltaworks/{pipeline}", number),
        seen=table.version,
        **more,
    )


def reached(path: Path, pipeline: str = "orders") -> Reached | None:
    table = open_table(path)
    return positions.reached(table.log, table, pipeline)


def actions(path: Path, version: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in commit_file(path, version).read_text().splitlines()]


# What a move leaves


def test_a_pipeline_goes_on_from_where_it_was_moved_to(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    table = open_table(tmp_path)

    found = move(table, asked(table))

    assert (found.batch, found.version, found.position.end, found.why) == (2, 1, 5, "the shop asked")
    assert found == reached(tmp_path)
    deliver(tmp_path, 3)
    assert (after := reached(tmp_path)) is not None
    assert after.position.end == 30


def test_a_move_changes_no_row_and_no_file(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    table = open_table(tmp_path)
    before = table.to_arrow()

    move(table, asked(table))

    after = open_table(tmp_path)
    assert (after.version, after.files) == (1, table.files)
    assert after.to_arrow() == before


def test_the_commit_of_a_move_says_who_moved_what_and_why(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    table = open_table(tmp_path)

    move(table, asked(table))

    (first, second) = actions(tmp_path, 1)
    info, said = first["commitInfo"], json.loads(first["commitInfo"]["userMetadata"])
    assert (info["operation"], info["readVersion"], info["operationMetrics"]) == ("MOVE POSITION", 0, {})
    assert info["operationParameters"] == {"pipeline": "orders", "why": "the shop asked"}
    assert abs(info["timestamp"] - time.time() * 1000) < 60_000
    assert (said["run"], said["user"], said["host"], said["why"]) == ("move-1", "ann", "shop", "the shop asked")
    assert said["position"] == {"source": "shop", "from": 10, "to": 5}
    assert (second["txn"]["appId"], second["txn"]["version"]) == ("deltaworks/orders", 2)


def test_a_move_is_noted_beside_the_table(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    table = open_table(tmp_path)

    move(table, asked(table))

    noted = json.loads((tmp_path / "_deltaworks/orders.json").read_text())
    assert (noted["batch"], noted["version"], noted["why"]) == (2, 1, "the shop asked")


def test_the_first_position_may_be_one_that_was_set(tmp_path: Path) -> None:
    append(tmp_path)
    table = open_table(tmp_path)

    assert move(table, asked(table)).batch == 1


def test_a_run_that_had_begun_before_a_move_is_told_that_it_was_taken_over(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    table = open_table(tmp_path)
    move(table, asked(table))

    late = Commit(run_id="run-2", pipeline="orders", batch=2, mark=Mark("deltaworks/orders", 2), seen=0)

    assert landed(table.log, late, late.seen).landing is Landing.TAKEN


# Compare and set


class Beaten(Log):
    """A log in which somebody else is faster, the first times that a commit is put."""

    def __init__(self, path: Path, before: Callable[[], object], times: int = 1) -> None:
        super().__init__(str(path))
        self._before, self._times = before, times

    def put(self, version: int, actions: Iterable[Mapping[str, Any]]) -> bool:
        if self._times:
            self._times -= 1
            self._before()
        return super().put(version, actions)


def test_a_writer_who_was_faster_with_something_else_does_not_matter(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    table = Table(Beaten(tmp_path, lambda: (append(tmp_path), append(tmp_path))))

    found = move(table, asked(table))

    assert (found.version, found.seen) == (3, 0)
    assert json.loads(actions(tmp_path, 3)[0]["commitInfo"]["userMetadata"])["attempt"] == 2
    assert actions(tmp_path, 3)[0]["commitInfo"]["readVersion"] == 2


def test_a_run_that_was_faster_is_named(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    table = Table(Beaten(tmp_path, lambda: deliver(tmp_path, 2, run="run-2")))

    with pytest.raises(OvertakenError, match=r"was not moved: it was taken over by run run-2 \(ann@shop\)") as caught:
        move(table, asked(table))

    assert caught.value.transient
    assert open_table(tmp_path).version == 1
    assert not (tmp_path / "_deltaworks").exists()


def test_a_batch_of_the_same_number_behind_another_commit_is_found(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    table = Table(Beaten(tmp_path, lambda: (append(tmp_path), deliver(tmp_path, 2, run="run-2"))))

    with pytest.raises(OvertakenError, match="run-2"):
        move(table, asked(table))


def test_a_program_that_was_faster_with_the_mark_is_told_of(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    mark = {"txn": {"appId": "deltaworks/orders", "version": 2}}
    table = Table(Beaten(tmp_path, lambda: by_hand(tmp_path, mark)))

    with pytest.raises(OvertakenError, match="another program"):
        move(table, asked(table))


def test_a_restore_that_was_faster_is_told(tmp_path: Path) -> None:
    append(tmp_path)
    deliver(tmp_path, 1)
    table = Table(Beaten(tmp_path, lambda: restore(tmp_path, 0)))

    with pytest.raises(OvertakenError, match="a RESTORE"):
        move(table, asked(table))


def remade(path: Path) -> None:
    shutil.rmtree(path)
    append(path)
    append(path)


@pytest.mark.parametrize("change", [remade, shutil.rmtree])
def test_a_table_that_was_made_anew_meanwhile_is_left_alone(tmp_path: Path, change: Callable[[Path], None]) -> None:
    path = tmp_path / "t"
    deliver(path, 1)

    def made_anew() -> None:
        change(path)
        append(path)
        append(path)

    again = Beaten(path, made_anew)
    table = Table(again)

    with pytest.raises(OvertakenError, match="made it anew"):
        move(table, asked(table))


def test_a_decision_that_came_too_late_is_told(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    decided = asked(open_table(tmp_path))
    deliver(tmp_path, 2)

    with pytest.raises(OvertakenError, match="another run"):
        move(open_table(tmp_path), decided)


def test_it_is_not_tried_for_ever(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    table = Table(Beaten(tmp_path, lambda: append(tmp_path), times=MOST_TRIES))

    with pytest.raises(OvertakenError, match="other writers"):
        move(table, asked(table))

    assert open_table(tmp_path).version == MOST_TRIES


# Answers that are lost


class Cut(Log):
    """A log whose storage does what it is asked, or does not, and then says something else."""

    def __init__(self, path: Path, *, lands: bool, raises: bool) -> None:
        super().__init__(str(path))
        self._lands, self._raises = lands, raises

    def put(self, version: int, actions: Iterable[Mapping[str, Any]]) -> bool:
        if self._lands:
            super().put(version, actions)
        if self._raises:
            raise UnreachableError(self.uri, "the connection was cut")
        return False


@pytest.mark.parametrize("raises", [False, True])
def test_a_move_whose_answer_was_lost_has_landed_once(tmp_path: Path, raises: bool) -> None:
    deliver(tmp_path, 1)
    table = Table(Cut(tmp_path, lands=True, raises=raises))

    found = move(table, asked(table))

    assert (found.version, open_table(tmp_path).version) == (1, 1)
    assert found == reached(tmp_path)


def test_a_move_that_storage_refused_is_told(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    table = Table(Cut(tmp_path, lands=False, raises=True))

    with pytest.raises(UnreachableError, match="the connection was cut"):
        move(table, asked(table))

    assert open_table(tmp_path).version == 0


# What tables ask of their writers


def features(path: Path, *names: str, properties: Mapping[str, str] | None = None, stamp: int | None = None) -> Table:
    """A table that asks its writers for some features."""
    schema = '{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}}]}'
    info = {"inCommitTimestamp": stamp} if stamp else {}
    by_hand(
        path,
        {"commitInfo": {**info, "timestamp": 1, "operation": "CREATE TABLE"}},
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": names}},
        {
            "metaData": {
                "id": "made",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": schema,
                "partitionColumns": [],
                "configuration": properties or {},
            }
        },
    )
    return open_table(path)


def test_a_table_that_only_spark_can_write_takes_a_move(tmp_path: Path) -> None:
    table = features(tmp_path, "rowTracking", "domainMetadata", "clustering", "identityColumns")

    assert move(table, asked(table)).version == 1
    assert DeltaTable(tmp_path).transaction_version("deltaworks/orders") == 1


def test_a_table_that_keeps_its_commits_elsewhere_is_refused(tmp_path: Path) -> None:
    table = features(tmp_path, "coordinatedCommits-preview")

    with pytest.raises(ConfigError, match="asks its writers for coordinatedCommits-preview"):
        move(table, asked(table))

    assert not commit_file(tmp_path, 1).exists()


@pytest.mark.parametrize("ahead", [-60_000, 60_000])
def test_time_stamps_in_commits_come_first_and_never_go_back(tmp_path: Path, ahead: int) -> None:
    now = int(time.time() * 1000)
    table = features(
        tmp_path, "inCommitTimestamp", properties={"delta.enableInCommitTimestamps": "true"}, stamp=now + ahead
    )

    move(table, asked(table))

    info = actions(tmp_path, 1)[0]["commitInfo"]
    assert next(iter(info)) == "inCommitTimestamp"
    assert info["inCommitTimestamp"] == (now + ahead + 1 if ahead > 0 else info["timestamp"])


def test_without_that_feature_there_is_no_such_stamp(tmp_path: Path) -> None:
    table = features(tmp_path, "inCommitTimestamp")

    move(table, asked(table))

    assert "inCommitTimestamp" not in actions(tmp_path, 1)[0]["commitInfo"]


# Taking another's place


def test_a_pipeline_that_takes_another_s_place_moves_both_marks_at_once(tmp_path: Path) -> None:
    deliver(tmp_path, 1, pipeline="old")
    deliver(tmp_path, 2, pipeline="old")
    table = open_table(tmp_path)

    found = move(table, asked(table, 20, adopts="old"))

    after = open_table(tmp_path)
    assert (found.batch, found.adopted_by, found.position.end) == (1, None, 20)
    assert (after.mark("deltaworks/orders"), after.mark("deltaworks/old"), after.version) == (1, 3, 2)
    assert found == reached(tmp_path)
    assert json.loads((tmp_path / "_deltaworks/old.json").read_text())["adopted_by"] == "orders"


def test_a_run_of_the_old_name_that_was_faster_is_named(tmp_path: Path) -> None:
    deliver(tmp_path, 1, pipeline="old")
    table = Table(Beaten(tmp_path, lambda: deliver(tmp_path, 2, pipeline="old", run="run-2")))

    with pytest.raises(OvertakenError, match="run-2"):
        move(table, asked(table, adopts="old"))


def test_a_run_of_the_old_name_that_is_slower_is_told(tmp_path: Path) -> None:
    deliver(tmp_path, 1, pipeline="old")
    table = open_table(tmp_path)
    move(table, asked(table, adopts="old"))

    late = Commit(run_id="run-2", pipeline="old", batch=2, mark=Mark("deltaworks/old", 2), seen=0)

    assert landed(table.log, late, late.seen).landing is Landing.TAKEN


def test_the_name_of_the_operation_is_none_that_other_rules_look_for() -> None:
    assert moves.OPERATION not in {"OPTIMIZE", "RESTORE"}
