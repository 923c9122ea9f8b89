from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from deltaworks.cli import output


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


def test_a_printed_command_can_be_typed_whatever_the_folder_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["pytest"])
    folder = Path("my demo's")

    lines = [shlex.join(command) for command in demo._next(folder, folder.absolute() / "runs")]

    assert lines[1] == """deltaworks runs list --runs 'my demo'"'"'s/runs'"""


def test_a_place_outside_the_folder_is_named_in_full() -> None:
    assert demo._near(Path("here"), "/elsewhere/table") == "/elsewhere/table"
    assert demo._near(Path("here"), str(Path.cwd() / "here" / "table")) == "here/table"
