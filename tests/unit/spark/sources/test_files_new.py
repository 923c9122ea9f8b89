from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from deltaworks.errors import ConfigError
from deltaworks.lake.file_lists import KEPT_ALWAYS, Chain, FileList, FileLists
from deltaworks.lake.folder import Stored, folder_at
from deltaworks.lake.listing import Wanted
from deltaworks.lake.mode import WriteMode
from deltaworks.spark.sinks import AnySink
from deltaworks.spark.sources.files import FileSource
from deltaworks.spark.sources.files_new import (
    FileIncremental,
    FilePosition,
    NewFiles,
    between,
    limited,
    settled,
    unread,
)
from deltaworks.vault.storage import Access

if TYPE_CHECKING:
    from pathlib import Path

    from deltaworks.spark.sources.files_new import FileBatch

NOW = datetime(2024, 1, 31, 12, tzinfo=UTC)


def file(name: str, age: int = 0, size: int = 10) -> Stored:
    """A file that was written so many seconds ago."""
    return Stored(name, size, int((NOW - timedelta(seconds=age)).timestamp()) * 10**9)


def incremental(**said: Any) -> FileIncremental:
    return FileIncremental.model_validate(said)


def test_files_come_by_age_and_then_by_name() -> None:
    files = [file("b"), file("a"), file("c", age=5)]

    assert [each.name for each in settled(files, incremental(), now=NOW)] == ["c", "a", "b"]


def test_a_file_that_may_still_be_written_waits() -> None:
    files = [file("old", age=30), file("young", age=29), file("tomorrow", age=-86400)]

    assert [each.name for each in settled(files, incremental(minAge="30s"), now=NOW)] == ["old"]
    assert len(settled(files, incremental(), now=NOW)) == 3  # whatever the clocks say


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, "abcd"),
        ({"maxFilesPerBatch": 2}, "ab"),
        ({"maxBytesPerBatch": 25}, "ab"),
        ({"maxBytesPerBatch": 30}, "abc"),
        ({"maxBytesPerBatch": 1}, "a"),
        ({"maxBytesPerBatch": "1KB", "maxFilesPerBatch": "3"}, "abc"),
    ],
)
def test_a_batch_holds_as_much_as_it_may_but_one_file_at_least(said: dict[str, Any], expected: str) -> None:
    files = [file(name) for name in "abcd"]

    assert "".join(each.name for each in limited(files, incremental(**said))) == expected


def test_a_name_decides_what_is_new_unless_somebody_named_a_time() -> None:
    files = [file("known", age=-5), file("old", age=60), file("new")]
    known = {"known": file("known")}
    since = (NOW - timedelta(seconds=30)).isoformat()

    assert [each.name for each in unread(files, known, FilePosition())] == ["old", "new"]
    assert [each.name for each in unread(files, known, FilePosition(since=since))] == ["new"]


def test_a_range_holds_its_start_and_not_its_end() -> None:
    files = [file("before", age=61), file("start", age=60), file("within", age=1), file("end")]

    found = between(files, NOW - timedelta(seconds=60), NOW)

    assert [each.name for each in found] == ["start", "within"]


def test_a_position_stays_small_and_comes_back() -> None:
    first = FilePosition().after([file("a"), file("b", age=60)], "orders/files/1.json")
    second = first.after([file("c", age=3600)], "orders/files/2.json")

    assert second.to_dict() == {
        "list": "orders/files/2.json",
        "files": 3,
        "bytes": 30,
        "through": "2024-01-31T12:00:00.000000Z",
    }
    assert FilePosition.of(second.to_dict()) == second
    assert str(second) == "3 files, the newest of 2024-01-31T12:00:00.000000Z"
    assert str(FilePosition().after([file("a")])).startswith("1 file, ")
    assert str(FilePosition.of({})) == "no files"


def test_a_time_that_somebody_named_stays_in_the_position() -> None:
    said = FilePosition.of({"since": "2024-01-31"})

    assert str(said) == "files since 2024-01-31"
    assert said.after([file("a")], "orders/files/1.json").since == "2024-01-31"


def test_only_who_goes_on_with_lists_removes_old_ones(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.csv").write_text("id\n1\n")
    lists = FileLists(folder_at(str(tmp_path / "out")), "orders")
    new = NewFiles(wanted=Wanted(pattern=f"{tmp_path}/in"), access=Access(), rules=incremental(), lists=lists)
    counts = f"{lists.place}/20200101T000000-00000000-00000000.json"
    lists.write(counts, FileList({"b.csv": file("b.csv")}))
    for number in range(KEPT_ALWAYS + 1):
        lists.write(f"{lists.place}/20200102T000000-{number:08x}-00000000.json", FileList({}))

    def settle(batch: FileBatch | None) -> int:
        assert batch is not None
        new.settle(batch)
        return len(lists.folder.names(f"_deltaworks/{lists.place}"))

    assert settle(new.whole(Chain(), "20240131T120000-0123abcd")) == KEPT_ALWAYS + 3
    assert set(lists.chain(counts).files) == {"b.csv"}
    assert settle(new.after(FilePosition(list=counts), "20240131T120001-0123abcd")) == KEPT_ALWAYS + 1
    assert set(lists.chain(counts).files) == {"b.csv"}


@pytest.mark.parametrize("position", [None, 5, [], {"offset": 1}, {"list": 5}, {"since": "yesterday"}])
def test_what_is_no_position_is_refused(position: Any) -> None:
    with pytest.raises(ConfigError, match=r"is no position of files|is not a time"):
        FilePosition.of(position)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"minAge": "soon"}, "'soon' is no duration"),
        ({"onChanged": "ignore"}, "fail"),
        ({"maxFilesPerBatch": 0}, "greater than or equal to 1"),
        ({"maxBytesPerBatch": "much"}, "is not a size"),
        ({"maxFiles": 1}, "Unknown key 'maxFiles'"),
    ],
)
def test_what_cannot_be_meant_is_refused(said: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        incremental(**said)


def of_new_files(path: str, options: dict[str, Any] | None = None) -> FileSource:
    values = {"sourceType": "File", "connectionParams": {"format": "csv", "path": path}, "options": options or {}}
    found = TypeAdapter(FileSource).validate_python(values | {"incremental": True})
    assert isinstance(found, FileSource)
    return found


@pytest.mark.parametrize("name", ["modifiedAfter", "modifiedbefore"])
def test_a_time_of_sparks_does_not_go_with_names(name: str) -> None:
    with pytest.raises(ValidationError, match="does not go with incremental, which knows files by their names"):
        of_new_files("in", {name: "2024-01-01T00:00:00"})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("s3://lake/in", "s3a://lake/in/", True),
        ("/data/in", "file:///data/in/", True),
        ("/data/in", "/data/x/../in", True),
        ("/data/in", "/data/in/*.csv", False),
        ("s3a://lake/in", "s3a://sea/in", False),
    ],
)
def test_a_source_is_known_by_its_pattern_in_one_spelling(one: str, other: str, same: bool) -> None:
    assert (of_new_files(one).identity() == of_new_files(other).identity()) is same


def test_a_sink_without_a_folder_has_no_place_for_lists() -> None:
    to_table = TypeAdapter(AnySink).validate_python({"sinkType": "DeltaLake", "path": "t"})
    to_files = TypeAdapter(AnySink).validate_python(
        {"sinkType": "File", "connectionParams": {"format": "csv", "path": "t"}}
    )

    of_new_files("in").check_incremental(to_table, WriteMode.APPEND)
    with pytest.raises(Exception, match="New files are known by lists beside the target, which has no folder"):
        of_new_files("in").check_incremental(to_files, WriteMode.APPEND)
    with pytest.raises(ConfigError, match="writes no folder"):
        _ = to_files.folder


def test_a_range_of_times_is_one_that_goes_forward() -> None:
    with pytest.raises(ConfigError, match="is not before"):
        of_new_files("in").between("2024-02-01", "2024-01-01")
    with pytest.raises(ConfigError, match="is not a time"):
        of_new_files("in").between("1", "2")
    assert of_new_files("in").between("2024-01-01", "2024-02-01").incremental is None
