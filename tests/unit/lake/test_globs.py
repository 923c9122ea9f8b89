from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deltaworks.errors import ConfigError
from deltaworks.lake.globs import check_pattern, escaped, matching, name_like, rooted, unescaped

if TYPE_CHECKING:
    from pathlib import Path

FILES = ["2024-01/part-1.csv", "2024-01/part-2.csv", "2024-02/part-1.csv", "2023-12/part-1.csv", "2024-01/notes.txt"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def found(folder: Path, pattern: str) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in matching(f"{folder}/{pattern}"))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("2024-01/part-1.csv", ["2024-01/part-1.csv"]),
        ("2024-01/", ["2024-01"]),
        ("2024-*/part-*.csv", ["2024-01/part-1.csv", "2024-01/part-2.csv", "2024-02/part-1.csv"]),
        ("*/part-?.csv", [name for name in sorted(FILES) if name.endswith("csv")]),
        ("202[4]-02/*", ["2024-02/part-1.csv"]),
        ("202[0-3]-*", ["2023-12"]),
        ("202[^4]-*", ["2023-12"]),
        ("202[!4]-*", ["2023-12"]),
        ("{2023-12,2024-02}", ["2023-12", "2024-02"]),
        ("{2023-12/part,2024-02/part}-1.csv", ["2023-12/part-1.csv", "2024-02/part-1.csv"]),
        ("202{3-1{1,2},4-02}", ["2023-12", "2024-02"]),
        ("2025-*", []),
        ("2024-01/part-1.csv/*", []),
        ("2024-01/nothing/part-1.csv", []),
    ],
)
def test_a_pattern_means_what_it_means_to_spark(folder: Path, pattern: str, expected: list[str]) -> None:
    assert found(folder, pattern) == expected


@pytest.mark.parametrize("name", ["a[1]", "{a,b}", "st*r", "quest?ion", "back\\slash", "a]b}c", "plain"])
def test_an_escaped_name_means_only_itself(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    (tmp_path / "a1").touch()

    assert found(tmp_path, escaped(name)) == [name]
    assert unescaped(escaped(name)) == name


@pytest.mark.parametrize("sign", ["*", "?", "[*?]"])
def test_a_special_sign_beside_an_escaped_one_still_counts(tmp_path: Path, sign: str) -> None:
    (tmp_path / "a[*").touch()

    assert found(tmp_path, rf"a\[{sign}") == ["a[*"]


@pytest.mark.parametrize("pattern", ["data/[a", "data/{a,b", "data/{a,{b}", "{a,[}"])
def test_signs_that_mean_nothing_together_are_refused(pattern: str) -> None:
    with pytest.raises(ConfigError, match="is no pattern"):
        check_pattern(pattern)


@pytest.mark.parametrize("pattern", ["data/*.csv", "s3a://bucket/{a,b}/[0-9]*", r"a\[", r"a\{", "a]", "a}", "ü ñ"])
def test_what_is_a_pattern_or_a_plain_path_is_let_through(pattern: str) -> None:
    check_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "folder", "only"),
    [
        ("/data/in", "/data", "in"),
        ("/data/in/", "/data", "in"),
        ("/data", "/", "data"),
        ("/data/in/*.csv", "/data/in", None),
        ("/data/2024-*/in", "/data", None),
        ("/data/{a,b}/c/d", "/data", None),
        ("/data/x/{a,b/c}.csv", "/data/x", None),
        (r"/data/a\*/in", "/data/a*", "in"),
        ("s3a://lake", "s3a://lake", ""),
        ("s3a://lake/in", "s3a://lake", "in"),
        ("s3a://lake/in/*", "s3a://lake/in", None),
        ("{/a/x,/b/x}", "/", None),
    ],
)
def test_one_look_at_a_folder_finds_all_that_a_pattern_means(pattern: str, folder: str, only: str | None) -> None:
    assert rooted(pattern)[::2] == (folder, only)


@pytest.mark.parametrize(("name", "like"), [("a.csv", True), ("b.json", True), ("b.csv", False), ("xa.csv", False)])
def test_a_name_alone_can_be_matched(name: str, like: bool) -> None:
    assert bool(name_like("{a.csv,*.json}").fullmatch(name)) is like
