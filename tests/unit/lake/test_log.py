from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable
from tests.unit.tables import ROWS, append, commit_file, land, rewrite, stamp

from deltaworks.lake.commit import Mark
from deltaworks.lake.log import DamagedLogError, Files, Log

if TYPE_CHECKING:
    from pathlib import Path


def log(path: Path) -> Log:
    return Log(str(path))


def lines(*actions: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(action)}\n" for action in actions)


def test_a_folder_without_a_log_has_no_versions(tmp_path: Path) -> None:
    assert log(tmp_path).versions() == ()
    assert log(tmp_path).latest() is None
    assert not log(tmp_path).readable()


def test_versions_are_listed_in_order(tmp_path: Path) -> None:
    for _ in range(3):
        append(tmp_path)

    assert log(tmp_path).versions() == (0, 1, 2)
    assert log(tmp_path).latest() == 2
    assert log(tmp_path).readable() == range(3)


@pytest.mark.parametrize("note", ['{"version": 2}', '{"version": 9}', '{"version": "x"}', "[]", "{", None])
def test_the_latest_version_is_found_whatever_is_noted_of_the_last_checkpoint(tmp_path: Path, note: str | None) -> None:
    for _ in range(5):
        append(tmp_path)
    if note is not None:
        (tmp_path / "_delta_log" / "_last_checkpoint").write_text(note)

    assert log(tmp_path).latest() == 4
    assert log(tmp_path).versions(after=2) == (3, 4)


def test_a_version_that_was_seen_is_still_the_latest_or_is_not(tmp_path: Path) -> None:
    for _ in range(3):
        append(tmp_path)
    found = log(tmp_path)

    assert [found.latest(since=2), found.latest(since=0)] == [2, 2]
    append(tmp_path)
    assert found.latest(since=2) == 3
    shutil.rmtree(tmp_path / "_delta_log")
    assert found.latest(since=3) is None
    append(tmp_path)
    assert found.latest(since=3) == 0


def test_the_commits_after_a_version_are_found_once_clean_up_was_there(tmp_path: Path) -> None:
    for _ in range(5):
        append(tmp_path)
    found = log(tmp_path)
    assert [each.version for each in found.since(1)] == [2, 3, 4]
    for version in range(3):
        commit_file(tmp_path, version).unlink()

    assert [each.version for each in found.since(0)] == [3, 4]
    assert list(found.since(4)) == []


def test_a_commit_of_ours_says_so(tmp_path: Path) -> None:
    version = append(tmp_path, commit=stamp("run-7", key="monday"))

    commit = log(tmp_path).commit(version)

    assert commit.operation == "WRITE"
    assert commit.ours is not None
    assert (commit.ours.run_id, commit.ours.pipeline, commit.ours.key) == ("run-7", "orders", "monday")
    assert commit.holds(Mark("deltaworks/orders#monday", 1))
    assert not commit.holds(Mark("deltaworks/orders#monday", 2))
    assert not commit.holds(Mark("deltaworks/orders#tuesday", 1))


def test_a_commit_of_others_is_not_ours(tmp_path: Path) -> None:
    append(tmp_path, commit=CommitProperties(custom_metadata={"userMetadata": "by hand"}))

    commit = log(tmp_path).commit(0)

    assert commit.ours is None
    assert commit.marks == ()


def test_a_commit_counts_its_files(tmp_path: Path) -> None:
    append(tmp_path)
    append(tmp_path)
    DeltaTable(tmp_path).optimize.compact()

    commit = log(tmp_path).commit(2)

    size = sum(file.stat().st_size for file in tmp_path.glob("*.parquet"))
    assert (commit.added.count, commit.removed.count) == (1, 2)
    assert commit.added.bytes + commit.removed.bytes == size


def test_a_commit_without_a_size_counts_as_no_bytes(tmp_path: Path) -> None:
    append(tmp_path)
    rewrite(tmp_path, 1, lines({"remove": {"path": "a.parquet"}}))

    assert log(tmp_path).commit(1).removed == Files(1, 0)


def test_a_commit_that_says_nothing_about_itself_is_read(tmp_path: Path) -> None:
    append(tmp_path)
    rewrite(tmp_path, 1, lines({"txn": {"appId": "a", "version": 3}}))

    commit = log(tmp_path).commit(1)

    assert (commit.timestamp, commit.operation, commit.read_version) == (None, None, None)
    assert commit.parameters == {}
    assert commit.metrics == {}
    assert commit.marks == (Mark("a", 3),)


def test_metadata_that_is_not_text_is_not_ours(tmp_path: Path) -> None:
    append(tmp_path)
    rewrite(tmp_path, 1, lines({"commitInfo": {"userMetadata": {"deltaworks": 1, "run": "x"}}}))

    assert log(tmp_path).commit(1).ours is None


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x1e", "\x0c"])
def test_line_separators_in_the_data_do_not_damage_a_commit(tmp_path: Path, separator: str) -> None:
    # They stand in the statistics of the file as they are.
    append(tmp_path, pa.table({"name": [f"two{separator}lines"]}))

    assert log(tmp_path).commit(0).added.count == 1


@pytest.mark.parametrize("text", ["", "\n\n", '{"commitInfo":{"timest', "not json\n", "5\n", "\x00\x00"])
def test_a_damaged_commit_is_named(tmp_path: Path, text: str) -> None:
    append(tmp_path)
    rewrite(tmp_path, 1, text)

    with pytest.raises(DamagedLogError, match=r"_delta_log/00000000000000000001\.json"):
        log(tmp_path).commit(1)


def test_a_commit_that_is_no_text_is_damaged(tmp_path: Path) -> None:
    append(tmp_path)
    commit_file(tmp_path, 1).write_bytes(b"\xff\xfe\x80")

    with pytest.raises(DamagedLogError):
        log(tmp_path).commit(1)


def test_commits_are_read_back_from_a_version(tmp_path: Path) -> None:
    for _ in range(4):
        append(tmp_path)

    assert [commit.version for commit in log(tmp_path).back(2)] == [2, 1, 0]
    assert [commit.version for commit in log(tmp_path).since(1)] == [2, 3]


def test_other_files_in_the_log_are_not_versions(tmp_path: Path) -> None:
    append(tmp_path)
    for name in ("_last_checkpoint", "5.json", ".00000000000000000007.json.tmp", "00000000000000000009.crc"):
        (tmp_path / "_delta_log" / name).touch()

    assert log(tmp_path).versions() == (0,)


def test_time_travel_reaches_back_to_the_oldest_checkpoint_once_the_start_is_gone(tmp_path: Path) -> None:
    for _ in range(6):
        append(tmp_path)
        DeltaTable(tmp_path).create_checkpoint()
    for version in (0, 1, 2):
        commit_file(tmp_path, version).unlink()
    for version in (0, 1, 2, 3):
        commit_file(tmp_path, version, "checkpoint.parquet").unlink()

    assert log(tmp_path).versions() == (3, 4, 5)
    assert log(tmp_path).readable() == range(4, 6)


def test_a_checkpoint_alone_is_readable_when_the_commits_go_on_from_it(tmp_path: Path) -> None:
    for _ in range(4):
        append(tmp_path)
        DeltaTable(tmp_path).create_checkpoint()
    for version in (0, 1, 2):
        commit_file(tmp_path, version).unlink()

    readable = log(tmp_path).readable()

    assert readable == range(2, 4)
    assert [DeltaTable(tmp_path, version=version).count() for version in readable] == [6, 8]


def test_a_checkpoint_may_be_in_several_files(tmp_path: Path) -> None:
    append(tmp_path)
    parts = [f"{3:020}.checkpoint.{part:010}.{2:010}.parquet" for part in (1, 2)]
    for name in (*parts, f"{5:020}.checkpoint.parquet", f"{7:020}.checkpoint.80a083e8.json", f"{9:020}.crc"):
        (tmp_path / "_delta_log" / name).touch()

    assert list(log(tmp_path).checkpoints()) == [3, 5, 7]
    assert log(tmp_path).checkpoints()[3] == [f"_delta_log/{name}" for name in parts]


def test_versions_are_never_made_before_their_predecessors(tmp_path: Path) -> None:
    append(tmp_path)
    rewrite(tmp_path, 1, lines({"commitInfo": {"timestamp": 9_000_000_000_000}}))
    rewrite(tmp_path, 2, lines({"commitInfo": {"timestamp": 5_000}}))
    rewrite(tmp_path, 3, lines({"commitInfo": {}}))

    times = log(tmp_path).times()

    assert list(times) == [0, 1, 2, 3]
    assert times[1] == times[2] == times[3]


def test_the_time_inside_a_commit_wins(tmp_path: Path) -> None:
    append(tmp_path)
    rewrite(tmp_path, 1, lines({"commitInfo": {"timestamp": 1, "inCommitTimestamp": 2}}))

    assert log(tmp_path).commit(1).timestamp == 2


def test_a_file_with_another_deletion_vector_is_another_file(tmp_path: Path) -> None:
    vector = {"storageType": "u", "pathOrInlineDv": "ab", "offset": 1}
    append(tmp_path)
    rewrite(tmp_path, 1, lines({"remove": {"path": "a"}}, {"add": {"path": "a", "deletionVector": vector}}))

    added, removed = log(tmp_path).file_changes(1)

    assert len(added) == len(removed) == 1
    assert added != removed


def test_a_keyed_load_is_found_by_its_mark_and_nothing_else(tmp_path: Path) -> None:
    for key in ("a", "b", "c"):
        land(tmp_path, key)
    append(tmp_path, ROWS)

    found = [commit.version for commit in log(tmp_path).since(-1) if commit.holds(Mark("deltaworks/orders#b", 1))]

    assert found == [1]
