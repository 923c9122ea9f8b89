from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tools.java import require_java
from tools.problem import Problem

if TYPE_CHECKING:
    from pathlib import Path


def java_that_says(text: str, home: Path) -> str:
    java = home / "bin/java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{text}' >&2\n")
    java.chmod(0o755)
    return str(home)


@pytest.mark.parametrize("version", ['openjdk version "17.0.15"', 'java version "21" 2023-09-19'])
def test_a_java_of_17_or_later_will_do(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", java_that_says(version, tmp_path))

    require_java()


@pytest.mark.parametrize(
    ("version", "named"),
    [('java version "1.8.0_402"', "Java 8"), ('openjdk version "11.0.2"', "Java 11"), ("what?", "unknown")],
)
def test_an_older_java_is_named(version: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", java_that_says(version, tmp_path))

    with pytest.raises(Problem, match=named):
        require_java()


def test_no_java_at_all_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(Problem) as raised:
        require_java()

    assert "openjdk-17" in raised.value.hint
