from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.tables import append

from deltaworks.errors import ConfigError, SetupError
from deltaworks.lake.storage import Folder, local_path, reason, remove_folder

# Nothing listens on port 1, and nobody waits for it.
NOBODY = {
    "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
    "AWS_ALLOW_HTTP": "true",
    "AWS_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "nobody",
    "AWS_SECRET_ACCESS_KEY": "nothing",
    "max_retries": "0",
}


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("data/orders", Path("data/orders")),
        ("/data/a b#c", Path("/data/a b#c")),
        ("file:///data/a%20b", Path("/data/a b")),
        ("file:/data/orders", Path("/data/orders")),
        ("s3://bucket/orders", None),
        ("s3a://bucket/orders", None),
    ],
)
def test_a_uri_knows_whether_it_is_local(uri: str, expected: Path | None) -> None:
    assert local_path(uri) == expected


@pytest.mark.parametrize("name", ["plain", "two words", "quest?ion", "hash#tag", "ünï", "colon:x", "st*r", "a\u00a0b"])
def test_a_folder_of_any_name_is_listed_and_read(tmp_path: Path, name: str) -> None:
    append(tmp_path / name)
    folder = Folder.of(str(tmp_path / name))

    assert folder.names("_delta_log") == ["00000000000000000000.json"]
    assert "commitInfo" in folder.read("_delta_log/00000000000000000000.json")


def test_only_files_are_listed(tmp_path: Path) -> None:
    (tmp_path / "inside" / "deeper").mkdir(parents=True)
    (tmp_path / "inside" / "file").touch()

    assert Folder.of(str(tmp_path)).names("inside") == ["file"]


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert Folder.of(str(tmp_path / "nothing")).names("_delta_log") == []


def test_storage_that_is_not_local_is_asked_through_delta_rs() -> None:
    assert Folder.of("memory:///orders").names("_delta_log") == []


@pytest.mark.parametrize("uri", ["foo://bucket/orders", "s3://", "a\0b", "\udcff"])
def test_a_place_that_is_none_is_the_callers_mistake(uri: str) -> None:
    with pytest.raises(ConfigError, match="is no place we can read") as caught:
        Folder.of(uri)

    assert str(caught.value).isprintable()
    assert "s3://bucket/table" in caught.value.hint


def test_storage_that_does_not_answer_is_named_with_the_cause() -> None:
    with pytest.raises(SetupError) as caught:
        Folder.of("s3://bucket/orders", NOBODY).names("_delta_log")

    assert str(caught.value) == "s3://bucket/orders cannot be read: Connection refused (os error 111)"


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").touch()

    with pytest.raises(SetupError, match="Not a directory"):
        Folder.of(str(tmp_path)).names("_delta_log")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="No such file"):
        Folder.of(str(tmp_path)).read("lost.json")


def test_files_that_are_not_there_are_told(tmp_path: Path) -> None:
    (tmp_path / "p=a b").mkdir()
    (tmp_path / "p=a b" / "50%.parquet").touch()
    names = ["lost/deep", "p=a b/50%.parquet", "lost"]

    assert Folder.of(str(tmp_path)).missing(names) == ["lost", "lost/deep"]
    assert Folder.of("memory:///orders").missing(names) == sorted(names)
    assert Folder.of(str(tmp_path)).missing([]) == []


def test_storage_that_does_not_answer_is_not_taken_for_missing_files() -> None:
    with pytest.raises(SetupError, match="Connection refused"):
        Folder.of("s3://bucket/orders", NOBODY).missing(["a.parquet"])


def test_an_error_without_words_is_named_by_its_kind() -> None:
    assert reason(OSError()) == "OSError"


def test_a_reason_is_short() -> None:
    assert len(reason(OSError("x" * 5000))) == 200


def test_a_folder_is_removed_with_all_that_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c").write_text("x")

    remove_folder(str(tmp_path / "a"))
    remove_folder(str(tmp_path / "a"))

    assert list(tmp_path.iterdir()) == []


def test_all_files_are_listed_however_deep_and_some_are_removed(tmp_path: Path) -> None:
    for name in ("a", "p=a b/50%.csv", "p=a b/q/c"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    folder = Folder.of(str(tmp_path))

    assert folder.all_names() == ["a", "p=a b/50%.csv", "p=a b/q/c"]
    folder.remove(["a", "p=a b/50%.csv"])
    assert folder.all_names() == ["p=a b/q/c"]
    assert Folder.of(str(tmp_path / "nothing")).all_names() == Folder.of("memory:///orders").all_names() == []


def test_storage_that_does_not_answer_is_not_taken_for_an_empty_folder() -> None:
    with pytest.raises(SetupError, match="Connection refused"):
        Folder.of("s3://bucket/orders", NOBODY).all_names()
