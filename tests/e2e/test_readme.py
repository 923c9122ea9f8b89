"""The README is run: every file it shows is written, every command typed."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, NamedTuple

import pytest

import deltaworks as dw
from tests.e2e.terminal import Terminal
from tests.house.tree import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

README = (ROOT / "README.md").read_text(encoding="utf-8")
# Run in full by the tests of the demo.
DEMO = "deltaworks demo"


class Block(NamedTuple):
    """A block of code, and the file that the sentence before it names."""

    file: str | None
    language: str
    text: str


def blocks() -> list[Block]:
    found = re.finditer(r"(?P<before>[^\n]*)\n\n```(?P<language>\w+)\n(?P<text>.*?)```", README, re.DOTALL)
    return [Block(named(match["before"]), match["language"], match["text"]) for match in found]


def named(sentence: str) -> str | None:
    found = re.search(r"`([\w./-]+\.\w+)`:$", sentence)
    return found[1] if found else None


def commands() -> list[str]:
    lines = [line for block in blocks() if block.language == "sh" for line in block.text.splitlines()]
    return [line for line in lines if line.startswith("deltaworks ") and line != DEMO]


@pytest.fixture
def terminal(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    for block in blocks():
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
    return Terminal(tmp_path, spark, monkeypatch)


def test_the_readers_first_pipeline_does_what_the_readme_says(terminal: Terminal, tmp_path: Path) -> None:
    said = {line: terminal.type(line) for line in commands()}

    assert [line.split()[1] for line in commands()] == ["validate", "plan", "run", "run", "run", "table"]
    assert "already landed as version 0" in said[commands()[3]]
    assert re.search(r"1\s.*MERGE.*\n.*0\s.*WRITE.*customers#2025-03", said[commands()[5]])
    assert sorted(dw.open_table(tmp_path / "tables/customers").to_arrow()["name"].to_pylist()) == ["Ana", "Bo", "Chen"]


def test_a_reader_can_install_what_the_readme_names() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]

    assert "pip install 'deltaworks[spark]'" in README
    assert "spark" in extras
    assert re.search(r"^demo:.*\n\t@\$\(BIN\)/deltaworks demo$", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)

    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_readme_fits_one_screen() -> None:
    assert len(README.splitlines()) <= 65
    assert max(map(len, README.splitlines())) <= 132
