"""What every folder can do, here on a disk and in an object store's memory; in a bucket: the integration tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import parquet

from deltaworks.errors import ConfigError, SetupError
from deltaworks.lake.folder import Folder, folder_at

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["disk", "memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    return folder_at("memory:///orders" if request.param == "memory" else str(tmp_path / "orders"))


def test_what_was_written_is_read(folder: Folder) -> None:
    folder.write("a/b.txt", "grün".encode())
    folder.write("a/b.txt", "grüner".encode())

    assert folder.read("a/b.txt") == "grüner".encode()
    assert folder.text("a/b.txt") == "grüner"
    assert folder.names("a") == ["b.txt"]


def test_a_file_is_created_only_where_none_is(folder: Folder) -> None:
    assert folder.create("a/b", b"first")
    assert not folder.create("a/b", b"second")
    assert folder.read("a/b") == b"first"


@pytest.fixture
def filled(folder: Folder) -> Folder:
    for name in ("top", "log/1.json", "log/2.json", "log/3.json", "log/deep/2.txt", "other/x"):
        folder.write(name, b"x")
    return folder


def test_files_and_folders_are_listed_apart(filled: Folder) -> None:
    assert filled.names() == ["top"]
    assert filled.folders() == ["log", "other"]
    assert filled.names("log") == ["1.json", "2.json", "3.json"]
    assert filled.folders("log") == ["deep"]


def test_only_what_comes_after_a_name_is_listed(filled: Folder) -> None:
    assert filled.names("log", after="1.json") == ["2.json", "3.json"]
    assert filled.names("log", after="9") == []
    assert filled.names(after="a") == ["top"]


def test_all_files_below_are_listed(filled: Folder) -> None:
    assert filled.files() == ["log/1.json", "log/2.json", "log/3.json", "log/deep/2.txt", "other/x", "top"]
    assert filled.files("log/deep") == ["log/deep/2.txt"]
    assert filled.files("nothing") == []


def test_a_folder_that_is_not_there_is_empty(folder: Folder) -> None:
    assert folder.names("_delta_log") == folder.folders("_delta_log") == folder.files("_delta_log") == []


def test_a_file_is_removed_once_and_again(filled: Folder) -> None:
    filled.remove("log/2.json")
    filled.remove("log/2.json")

    assert filled.names("log") == ["1.json", "3.json"]


def test_a_file_is_copied(filled: Folder) -> None:
    filled.write("new", b"new")
    filled.copy("new", "deep/er")
    filled.copy("new", "top")

    assert [filled.read(name) for name in ("new", "deep/er", "top")] == [b"new"] * 3


def test_a_folder_is_removed_with_all_that_is_in_it(filled: Folder) -> None:
    filled.remove_folder("log")
    filled.remove_folder("log")

    assert filled.files() == ["other/x", "top"]


def test_files_that_are_not_there_are_told(folder: Folder) -> None:
    folder.write("p=a b/50%.parquet", b"")

    assert folder.missing(["lost/deep", "p=a b/50%.parquet", "lost"]) == ["lost", "lost/deep"]
    assert folder.missing([]) == []


def test_a_file_knows_when_it_was_written(folder: Folder) -> None:
    folder.write("now", b"x")

    at = folder.modified("now")

    assert at is not None
    assert abs(at - datetime.now(UTC)) < timedelta(minutes=1)
    assert folder.modified("never") is None


def test_one_column_of_a_parquet_file_is_read(folder: Folder) -> None:
    buffer = pa.BufferOutputStream()
    parquet.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), buffer)
    folder.write("t.parquet", buffer.getvalue().to_pybytes())

    assert folder.column("t.parquet", "b") == [{"b": "x"}, {"b": "y"}]


@pytest.mark.parametrize("uri", ["foo://bucket/orders", "s3://", "a\0b", "\udcff"])
def test_a_place_that_is_none_is_the_callers_mistake(uri: str) -> None:
    with pytest.raises(ConfigError, match=r"is no place we can read|names no bucket") as caught:
        folder_at(uri)

    assert str(caught.value).isprintable()
    assert "s3" in caught.value.hint


def test_a_file_that_is_not_there_is_named(folder: Folder) -> None:
    with pytest.raises(SetupError, match=r"lost\.json"):
        folder.read("lost.json")
