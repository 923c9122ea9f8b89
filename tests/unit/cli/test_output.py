from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deltaworks.cli import output

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "bin" / "deltaworks"
    path.parent.mkdir()
    path.touch(mode=0o755)
    return path


def test_a_command_that_the_shell_finds_is_printed_by_its_name(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr("sys.argv", [str(program)])

    assert output.program() == "deltaworks"


def test_a_command_that_the_shell_would_not_find_is_printed_as_it_was_typed(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(program.parent.parent)
    monkeypatch.setattr("sys.argv", ["bin/deltaworks"])

    assert output.program() == "bin/deltaworks"
