from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.tables import append

from deltaworks.errors import SetupError
from deltaworks.lake.folder import folder_at

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["plain", "two words", "quest?ion", "hash#tag", "ünï", "colon:x", "st*r", "a\u00a0b"])
def test_a_folder_of_any_name_is_listed_and_read(tmp_path: Path, name: str) -> None:
    append(tmp_path / name)
    folder = folder_at(str(tmp_path / name))

    assert folder.names("_delta_log") == ["00000000000000000000.json"]
    assert "commitInfo" in folder.text("_delta_log/00000000000000000000.json")


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").touch()

    with pytest.raises(SetupError, match="Not a directory"):
        folder_at(str(tmp_path)).names("_delta_log")


def test_writing_leaves_no_draft(tmp_path: Path) -> None:
    folder = folder_at(str(tmp_path))
    folder.write("a", b"x")
    folder.create("a", b"y")
    folder.create("b", b"y")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_files_are_listed_with_their_state(tmp_path: Path) -> None:
    folder = folder_at(str(tmp_path))
    folder.write("in/a b.csv", b"123")
    folder.write("in/deep/c.csv", b"")
    folder.write("other/d.csv", b"1")
    (tmp_path / "in/nowhere").symlink_to(tmp_path / "gone")

    assert [(file.name, file.size) for file in folder.stored("in")] == [("in/a b.csv", 3), ("in/deep/c.csv", 0)]
    assert [file.name for file in folder.stored(enter=lambda name: name == "other")] == ["other/d.csv"]
    assert [file.name for file in folder.stored("in/a b.csv")] == ["in/a b.csv"]
    assert folder.stored("in/a b.csv")[0].modified == (tmp_path / "in/a b.csv").stat().st_mtime_ns
    assert folder.stored("lost") == []
