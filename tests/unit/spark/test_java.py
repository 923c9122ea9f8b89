from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deltaworks.errors import SetupError
from deltaworks.spark.java import find_java

if TYPE_CHECKING:
    from pathlib import Path


def fake_java(home: Path, says: str) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{says}\nEND\n")
    program.chmod(0o755)
    return program


def test_the_java_of_this_machine_will_do() -> None:
    assert 17 <= find_java().version <= 22


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    program = fake_java(tmp_path, 'openjdk version "21.0.2" 2024-01-16')

    assert find_java(str(tmp_path)).path == program


@pytest.mark.parametrize(
    ("says", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "22" 2024-03-19', 22),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "21-ea" 2023-09-19', 21),
    ],
)
def test_the_version_is_what_java_says(tmp_path: Path, says: str, version: int) -> None:
    fake_java(tmp_path, says)

    assert find_java(str(tmp_path)).version == version


def test_a_release_file_answers_without_starting_java(tmp_path: Path) -> None:
    fake_java(tmp_path, "never asked")
    (tmp_path / "release").write_text('IMPLEMENTOR="X"\nJAVA_VERSION="17.0.1"\n')

    assert find_java(str(tmp_path)).version == 17


def test_a_release_file_without_a_version_does_not_count(tmp_path: Path) -> None:
    fake_java(tmp_path, 'openjdk version "17.0.15"')
    (tmp_path / "release").write_text("nothing\n")

    assert find_java(str(tmp_path)).version == 17


@pytest.mark.parametrize(
    ("says", "version"),
    [
        ('java version "1.8.0_392"', "Java 8"),
        ('openjdk version "11.0.2"', "Java 11"),
        ('java version "25" 2025-09-16 LTS', "Java 25"),
    ],
)
def test_a_java_that_spark_cannot_run_on_is_named_and_refused(tmp_path: Path, says: str, version: str) -> None:
    fake_java(tmp_path, says)

    with pytest.raises(SetupError, match=f"{version}; Spark needs 17") as refused:
        find_java(str(tmp_path))
    assert "Install Java 17" in refused.value.hint


def test_a_machine_without_java_is_told_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="Java was not found") as refused:
        find_java(search_path=str(tmp_path))
    assert "JAVA_HOME" in refused.value.hint


def test_a_java_home_without_java_is_an_error_and_not_a_reason_to_look_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="bin/java is missing"):
        find_java(str(tmp_path))


def test_a_program_that_is_no_java_is_refused(tmp_path: Path) -> None:
    fake_java(tmp_path, "hello")

    with pytest.raises(SetupError, match="does not say which Java it is"):
        find_java(str(tmp_path))


def test_a_java_that_cannot_start_is_refused(tmp_path: Path) -> None:
    fake_java(tmp_path, "x").chmod(0o644)

    with pytest.raises(SetupError, match="could not be started"):
        find_java(str(tmp_path))
