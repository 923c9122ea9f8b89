from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from deltaworks.cli import demo

if TYPE_CHECKING:
    import pytest


def test_a_printed_command_can_be_typed_whatever_the_folder_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["pytest"])
    folder = Path("my demo's")

    lines = [shlex.join(command) for command in demo._next(folder, str(folder.absolute() / "runs"))]

    assert lines[1] == """deltaworks runs list --runs 'my demo'"'"'s/runs'"""


def test_a_place_outside_the_folder_is_named_in_full() -> None:
    assert demo._near(Path("here"), "/elsewhere/table") == "/elsewhere/table"
    assert demo._near(Path("here"), str(Path.cwd() / "here" / "table")) == "here/table"
