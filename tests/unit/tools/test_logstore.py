from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tools import logstore
from tools.problem import Problem

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    for name in ("java/io/A.java", "src/deltaworks/spark/jars.toml", "tools/logstore.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.fixture
def made(clone: Path) -> Path:
    """A clone whose jar is current."""
    logstore.pack(clone / "java", logstore.manifest(clone), clone / logstore.JAR)
    return clone


def test_a_clone_without_the_jar_has_no_current_one(clone: Path) -> None:
    assert not logstore.is_current(clone)


def test_a_jar_that_was_just_made_is_current(made: Path) -> None:
    assert logstore.is_current(made)


@pytest.mark.parametrize("name", ["java/io/A.java", "java/io/B.java", "src/deltaworks/spark/jars.toml"])
def test_a_jar_is_of_an_earlier_time_when_what_it_is_made_from_changes(made: Path, name: str) -> None:
    (made / name).write_text("changed")

    assert not logstore.is_current(made)


def test_a_source_that_was_renamed_asks_for_a_new_jar(made: Path) -> None:
    (made / "java/io/A.java").rename(made / "java/io/B.java")

    assert not logstore.is_current(made)


@pytest.mark.parametrize("content", [b"", b"PK no jar"])
def test_a_damaged_jar_is_not_current(made: Path, content: bytes) -> None:
    (made / logstore.JAR).write_bytes(content)

    assert not logstore.is_current(made)


def test_nothing_is_packed_without_a_current_jar(clone: Path) -> None:
    with pytest.raises(Problem, match="is missing, or older than java/") as raised:
        logstore.require_current(clone)

    assert "make setup" in raised.value.hint


def test_the_same_classes_make_the_same_jar(tmp_path: Path) -> None:
    jars: list[bytes] = []
    for names in ("ab", "ba"):
        folder = tmp_path / names
        folder.mkdir()
        for name in names:
            (folder / f"{name}.class").write_text(name)
            os.utime(folder / f"{name}.class", (len(jars), 0))
        logstore.pack(folder, b"manifest", folder / "jar")
        jars.append((folder / "jar").read_bytes())

    assert jars[0] == jars[1]


def test_a_line_of_the_manifest_is_not_too_long_for_java(clone: Path) -> None:
    assert max(map(len, logstore.manifest(clone).splitlines())) <= 72
