from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deltaworks.errors import ConfigError, SetupError
from deltaworks.lake.listing import Wanted
from deltaworks.vault.storage import Access

if TYPE_CHECKING:
    from pathlib import Path

FILES = [
    "a.csv",
    "b.json",
    "_hidden.csv",
    ".a.csv.crc",
    "c.csv._COPYING_",
    "2024-01/a.csv",
    "2024-01/_tmp/b.csv",
    "2024-02/deep/c.csv",
    "parts/day=1/a.csv",
    "parts/day=1/deep/b.csv",
    "parts/_day=2/c.csv",
    "parts/.day=3/d.csv",
    "_folder/a.csv",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "empty.csv").touch()
    return tmp_path


def found(folder: Path, pattern: str, **how: object) -> list[str]:
    listing = Wanted(pattern=f"{folder}/{pattern}", **how).listed(Access())  # type: ignore[arg-type]
    return sorted(listing.path(name).removeprefix(f"{folder}/") for name in listing.files)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("2024-01", ["2024-01/a.csv"]),
        ("a.csv", ["a.csv"]),
        ("*.csv", ["a.csv"]),
        ("_hidden.csv", []),
        ("_folder", ["_folder/a.csv"]),
        ("2024-*", ["2024-01/a.csv"]),
        ("2024-{01,02/deep}", ["2024-01/a.csv", "2024-02/deep/c.csv"]),
        ("{a,2024-01/a}.csv", ["2024-01/a.csv", "a.csv"]),
        ("parts", ["parts/_day=2/c.csv", "parts/day=1/a.csv", "parts/day=1/deep/b.csv"]),
        ("parts/day=*", ["parts/day=1/a.csv"]),
        ("nothing", []),
    ],
)
def test_the_files_are_those_that_spark_would_read(folder: Path, pattern: str, expected: list[str]) -> None:
    assert found(folder, pattern) == expected


def test_a_folder_that_is_not_there_is_told(folder: Path) -> None:
    with pytest.raises(SetupError, match="there is no folder"):
        found(folder, "nothing/*.csv")


def test_sub_folders_are_read_where_that_is_asked_for(folder: Path) -> None:
    hidden = ("_hidden", ".a", "2024-01/_tmp", "parts/.day", "_folder")
    every = [name for name in FILES if not name.startswith(hidden) and not name.endswith("_COPYING_")]

    assert found(folder, "", recursive=True) == sorted(every)
    assert found(folder, "", recursive=True, named="{a,c}.csv") == [
        "2024-01/a.csv",
        "2024-02/deep/c.csv",
        "a.csv",
        "parts/_day=2/c.csv",
        "parts/day=1/a.csv",
    ]


def test_where_partitions_begin_is_known(folder: Path) -> None:
    def partitions(pattern: str, *, recursive: bool = False) -> str | None:
        return Wanted(pattern=f"{folder}/{pattern}", recursive=recursive).listed(Access()).partitions

    assert partitions("parts") == f"{folder}/parts"
    assert partitions("par*") == f"{folder}/parts"
    assert partitions("parts/day=1") is None
    assert partitions("parts", recursive=True) is None


def test_what_spark_would_leave_out_or_mix_up_is_refused(folder: Path) -> None:
    (folder / "parts/loose.csv").write_text("id")
    with pytest.raises(ConfigError, match="parts holds files beside its partitions, which Spark leaves out"):
        found(folder, "parts")
    (folder / "parts/loose.csv").unlink()
    (folder / "parts2/day=1").mkdir(parents=True)
    (folder / "parts2/day=1/a.csv").write_text("id")
    with pytest.raises(ConfigError, match=r"parts and .*parts2 both hold partitions"):
        found(folder, "parts*")


def test_a_state_tells_a_file_from_another_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("1")
    wanted = Wanted(pattern=f"{tmp_path}/*.csv")
    before = wanted.listed(Access()).files["in.csv"]
    again = wanted.listed(Access()).files["in.csv"]
    (tmp_path / "in.csv").write_text("2")
    after = wanted.listed(Access()).files["in.csv"]

    assert before.same_as(again)
    assert not before.same_as(after)


@pytest.mark.parametrize(
    ("pattern", "whole"),
    [
        ("s3a://lake/in/", "s3a://lake/in"),
        ("/data/x/../in/", "/data/in"),
        ("file:///data/a%20b", "/data/a b"),
    ],
)
def test_a_place_has_one_spelling(pattern: str, whole: str) -> None:
    assert Wanted(pattern=pattern).whole == whole
