from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaworks.errors import RefusedError
from deltaworks.lake.file_lists import KEPT_ALWAYS, Chain, FileList, FileLists, unneeded
from deltaworks.lake.folder import Stored, folder_at

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

RUN = "20240131T120000-0123abcd"


def file(name: str, modified: int = 1, tag: str | None = None) -> Stored:
    return Stored(name, 10, modified, tag)


@pytest.fixture
def lists(tmp_path: Path) -> FileLists:
    return FileLists(folder_at(str(tmp_path)), "orders")


def added(lists: FileLists, before: str | None, *files: Stored) -> str:
    name = lists.new_name(RUN)
    lists.write(name, lists.chain(before).followed_by(files))
    return name


def test_a_chain_knows_the_files_of_every_batch(lists: FileLists) -> None:
    first = added(lists, None, file("a"), file("b", tag="x"))
    second = added(lists, first, file("ü/c d.csv"))
    third = added(lists, second, file("a", modified=2))

    assert lists.chain(None).files == {}
    assert set(lists.chain(first).files) == {"a", "b"}
    assert lists.chain(third).files == {
        "a": file("a", modified=2),
        "b": file("b", tag="x"),
        "ü/c d.csv": file("ü/c d.csv"),
    }


def test_a_list_whose_commit_did_not_land_is_nobodys(lists: FileLists) -> None:
    first = added(lists, None, file("a"))
    added(lists, first, file("b"))
    second = added(lists, first, file("c"))

    assert set(lists.chain(second).files) == {"a", "c"}


BATCHES = st.lists(st.sets(st.integers(0, 60), min_size=1, max_size=8), max_size=40)


@given(BATCHES)
def test_any_batches_are_known_exactly_by_a_short_chain(batches: list[set[int]]) -> None:
    kept: dict[str, FileList] = {}
    known: dict[str, Stored] = {}
    chain = Chain()
    for number, names in enumerate(batches):
        files = [file(str(name), modified=number) for name in names]
        kept[str(number)] = FileList.of_json(chain.followed_by(files).to_json())
        chain, known = _chain(kept, str(number)), known | {each.name: each for each in files}

        assert chain.files == known
        assert len(chain.lists) <= math.log2(sum(map(len, batches[: number + 1]))) + 1


def _chain(kept: dict[str, FileList], name: str | None) -> Chain:
    found: dict[str, FileList] = {}
    while name is not None:
        found[name] = kept[name]
        name = kept[name].before
    return Chain(found)


def test_many_small_batches_write_each_file_into_few_lists() -> None:
    kept: dict[str, FileList] = {}
    chain = Chain()
    for number in range(1024):
        kept[str(number)] = chain.followed_by([file(str(number))])
        chain = _chain(kept, str(number))

    assert sum(len(each.files) for each in kept.values()) <= 1024 * 11
    assert len(chain.lists) == 1


def damaged(lists: FileLists, name: str, how: Any) -> None:
    path = f"_deltaworks/{name}"
    lists.folder.remove(path) if how is None else lists.folder.write(path, how)


@pytest.mark.parametrize("how", [None, b"", b"{", b"[]", b"{}", b'{"files": {"a": 1}, "before": null}'])
@pytest.mark.parametrize("which", [0, 1])
def test_a_list_that_is_lost_or_damaged_is_refused(lists: FileLists, which: int, how: bytes | None) -> None:
    first = added(lists, None, file("a"), file("b"))
    names = [first, added(lists, first, file("c"))]
    damaged(lists, names[which], how)

    with pytest.raises(RefusedError, match=r"Which files were read already is not known: .*orders/files/") as caught:
        lists.chain(names[1])

    assert "--full-refresh" in caught.value.hint
    assert "state set" in caught.value.hint


@pytest.mark.parametrize("name", ["../orders.json", "orders/files/../../x.json", "x.json", ""])
def test_a_name_that_leads_elsewhere_is_refused(lists: FileLists, name: str) -> None:
    with pytest.raises(RefusedError, match="is no name of a list"):
        lists.chain(name)


def test_lists_in_a_circle_are_refused(lists: FileLists) -> None:
    name = lists.new_name(RUN)
    lists.write(name, FileList({"a": file("a")}, before=name))

    with pytest.raises(RefusedError, match="names itself again"):
        lists.chain(name)


def test_a_renamed_pipeline_goes_on_with_the_lists_of_its_old_name(lists: FileLists, tmp_path: Path) -> None:
    old = added(lists, None, file("a"), file("b"))
    renamed = FileLists(folder_at(str(tmp_path)), "orders-new")

    new = added(renamed, old, file("c"))

    assert new.startswith("orders-new/files/")
    assert set(renamed.chain(new).files) == {"a", "b", "c"}


def aged(count: int, day: int) -> list[str]:
    return [f"202401{day:02}T0000{number // 60:02}-{number:08x}-00000000.json" for number in range(count)]


def test_only_old_lists_that_no_chain_needs_are_removed() -> None:
    now = datetime(2024, 2, 20, tzinfo=UTC)
    old, newer = aged(KEPT_ALWAYS + 3, day=1), aged(2, day=30)

    def gone(names: Iterable[str], needed: Iterable[str] = ()) -> list[str]:
        return unneeded(names, set(needed), now=now)

    assert gone([*old, *newer]) == old[:5]
    assert gone([*old, *newer], needed=old[:2]) == old[2:5]
    assert gone(old[:KEPT_ALWAYS]) == []
    assert gone(newer * KEPT_ALWAYS) == []
    assert gone(["notes.json"] * 200) == []


def test_lists_of_a_chain_survive_a_clearing(lists: FileLists) -> None:
    first = added(lists, None, file("a"), file("b"))
    chain = lists.chain(first)
    for number in range(KEPT_ALWAYS + 2):
        lists.write(f"orders/files/20200101T000000-{number:08x}-00000000.json", FileList({}))

    lists.clear(chain)

    left = lists.folder.names("_deltaworks/orders/files")
    assert len(left) == KEPT_ALWAYS + 1
    assert first.rpartition("/")[2] in left
