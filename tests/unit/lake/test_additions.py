from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.tables import append, by_hand, restore

from deltaworks.lake.additions import Group, Ignored, RowsChangedError, Turn, grouped, lost, turn, turns
from deltaworks.lake.log import Log

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

VECTOR = "v6WDuo#]X6YXFXft5#<r"  # in a file beside the others
NOTHING, DELETES, CHANGES = Ignored(), Ignored(deletes=True), Ignored(changes=True)


def commit(add: str = "", remove: str = "", *, rows: bool = True, vector: str = "") -> list[dict[str, Any]]:
    """A commit that adds and removes files, each named by a letter."""
    hidden = {"deletionVector": {"storageType": "u", "pathOrInlineDv": vector}} if vector else {}
    added = [{"add": {"path": name, "dataChange": rows, **hidden}} for name in add]
    return [*added, *({"remove": {"path": name, "dataChange": rows}} for name in remove)]


def groups(*commits: Sequence[dict[str, Any]], ignored: Ignored = NOTHING) -> list[tuple[int, str]]:
    """The groups of commits from version 1 on: the version of each, and its files."""
    found = [turn(version, actions, ignored=ignored) for version, actions in enumerate(commits, start=1)]
    return [(group.version, "".join(sorted(group.files))) for group in grouped(found, ignored=ignored)]


def test_files_that_all_stayed_are_read_at_the_latest_version() -> None:
    assert groups(commit("a"), commit("bc"), commit()) == [(3, "abc")]
    assert groups(commit()) == [(1, "")]


def test_a_file_that_went_is_read_where_it_still_was() -> None:
    compacted = commit("x", "ab", rows=False)

    assert groups(commit("a"), commit("b"), compacted, commit("c")) == [(2, "ab"), (4, "c")]
    assert groups(commit("a"), commit("y", "o", rows=False), commit("b")) == [(3, "ab")]
    assert groups(commit("a"), compacted, commit("b"), commit("z", "xb", rows=False)) == [(1, "a"), (3, "b"), (4, "")]


def test_rows_that_were_changed_or_deleted_are_refused_by_their_version() -> None:
    for changed in (commit("b", "a"), commit("", "a"), commit("a", "a", vector=VECTOR)):
        with pytest.raises(RowsChangedError, match="changed or deleted, in version 2") as caught:
            groups(commit("a"), changed)
        assert "readChangeFeed: true" in caught.value.hint


def test_versions_that_only_deleted_rows_are_passed_over_where_somebody_said_so() -> None:
    assert groups(commit("a"), commit("", "a"), commit("b"), ignored=DELETES) == [(1, "a"), (3, "b")]
    with pytest.raises(RowsChangedError):
        groups(commit("a"), commit("b", "a"), ignored=DELETES)


def test_versions_that_changed_rows_are_passed_over_whole_where_somebody_said_so() -> None:
    updated = commit("ax", "a")

    assert groups(commit("a"), updated, commit("b"), commit("", "b"), ignored=CHANGES) == [(1, "a"), (3, "b"), (4, "")]


def test_a_file_that_was_taken_back_comes_again_as_in_a_stream() -> None:
    assert groups(commit("a"), commit("", "a"), commit("a"), ignored=DELETES) == [(1, "a"), (3, "a")]


def test_of_the_first_version_the_files_that_were_read_before_are_left_out() -> None:
    found = turn(4, [{"commitInfo": {}}, *commit("x", rows=False), *commit("abc")], ignored=NOTHING, read=2)

    assert found.added == ("c",)
    assert found.stored == {"c"}


def test_files_of_another_table_are_read_and_nothing_is_said_of_their_storage() -> None:
    path = "file:///other/part-1%20a.parquet"

    found = turn(1, [{"add": {"path": path, "dataChange": True}}], ignored=NOTHING)

    assert (found.added, found.stored) == (("file:///other/part-1 a.parquet",), frozenset())


ACTS = st.lists(st.tuples(st.booleans(), st.sets(st.integers(0, 30), max_size=3)), min_size=1, max_size=20)


@given(ACTS)
def test_every_file_is_in_one_group_whose_version_has_it(acts: list[tuple[bool, set[int]]]) -> None:
    found, there, versions = [], set[str](), dict[int, set[str]]()
    for version, (adds, numbers) in enumerate(acts):
        added = {f"{version}-{number}" for number in numbers} if adds else set()
        removed = frozenset() if adds else frozenset(sorted(there)[: len(numbers)])
        there = (there | added) - removed
        versions[version] = there
        found.append(_compacting(version, added, removed))

    formed = list(grouped(found, ignored=NOTHING))

    assert sorted(file for group in formed for file in group.files) == sorted(file for t in found for file in t.added)
    assert all(group.files <= versions[group.version] for group in formed)
    assert formed[-1].version == len(acts) - 1


def _compacting(version: int, added: set[str], removed: frozenset[str]) -> Turn:
    return Turn(version=version, added=tuple(added), stored=frozenset(added), removed=removed, changed=False)


# Of a table


def of(path: Path, start: int = 0, ignored: Ignored = NOTHING) -> list[Turn]:
    return list(turns(Log(str(path)), start, DeltaTable(path).version(), ignored=ignored))


def vacuum(path: Path) -> None:
    DeltaTable(path).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)


def test_rows_that_were_compacted_are_still_new_where_they_came(tmp_path: Path) -> None:
    for number in range(3):
        append(tmp_path, pa.table({"id": [number]}))
    DeltaTable(tmp_path).optimize.compact()
    append(tmp_path, pa.table({"id": [9]}))

    first, last = grouped(of(tmp_path), ignored=NOTHING)

    assert (first.version, len(first.files)) == (2, 3)
    assert (last.version, len(last.files)) == (4, 1)
    assert isinstance(last, Group)


def test_new_rows_that_vacuum_took_are_found_by_their_version(tmp_path: Path) -> None:
    for number in range(3):
        append(tmp_path, pa.table({"id": [number]}))
    DeltaTable(tmp_path).optimize.compact()
    append(tmp_path, pa.table({"id": [9]}))

    assert lost(Log(str(tmp_path)), of(tmp_path)) == []
    vacuum(tmp_path)

    assert lost(Log(str(tmp_path)), of(tmp_path)) == [0, 1, 2]
    assert lost(Log(str(tmp_path)), of(tmp_path, start=2)) == [2]
    assert lost(Log(str(tmp_path)), of(tmp_path, start=3)) == []
    assert lost(Log(str(tmp_path)), []) == []


def test_files_that_a_restore_brought_back_are_not_lost(tmp_path: Path) -> None:
    append(tmp_path)
    DeltaTable(tmp_path).delete("id = 2")
    restore(tmp_path, 0)
    vacuum(tmp_path)

    assert lost(Log(str(tmp_path)), of(tmp_path, ignored=CHANGES)) == []
    assert 1 in lost(Log(str(tmp_path)), of(tmp_path))  # what the delete had written


def test_rows_of_versions_that_are_passed_over_are_nobodys_loss(tmp_path: Path) -> None:
    append(tmp_path)
    DeltaTable(tmp_path).update({"name": "'z'"}, predicate="id = 1")
    DeltaTable(tmp_path).update({"name": "'y'"}, predicate="id = 1")
    vacuum(tmp_path)

    assert lost(Log(str(tmp_path)), of(tmp_path, start=1)) == [1]
    assert lost(Log(str(tmp_path)), of(tmp_path, start=1, ignored=CHANGES)) == []


def test_what_tells_deleted_rows_can_be_lost_too(tmp_path: Path) -> None:
    append(tmp_path)
    (tmp_path / "a").touch()
    by_hand(tmp_path, *commit("a", vector=VECTOR))
    gone = {"path": "a", "deletionVector": {"storageType": "u", "pathOrInlineDv": VECTOR}}
    by_hand(tmp_path, {"remove": gone}, {"add": {"path": "a", "dataChange": False}})
    log = Log(str(tmp_path))

    assert lost(log, list(turns(log, 1, 2, ignored=NOTHING))) == [1]
    (tmp_path / "deletion_vector_60b2bcf8-4dc8-4357-bcdc-92e25a733dba.bin").touch()
    assert lost(log, list(turns(log, 1, 2, ignored=NOTHING))) == []
