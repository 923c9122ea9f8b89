from __future__ import annotations

import pytest

from deltaworks.cli.progress import Progress
from deltaworks.runs.events import Stage
from deltaworks.spark.jars import JarProgress


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that somebody looks."""
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


def told(capsys: pytest.CaptureFixture[str], *, quiet: bool = False) -> str:
    """What one run shows from its start to its end."""
    with Progress(quiet=quiet) as progress:
        progress.jar(JarProgress(done=0, total=7, name="delta-storage"))
        progress.jar(JarProgress(done=2, total=7, name="delta-spark"))
        progress.stage(Stage("orders", "session"))
        progress.stage(Stage("orders", "load"))
        progress.tasks(1, 2)
        progress.pause()
        progress.pause()
        progress.say("[/x] is said as it is")
        progress.stage(Stage("returns", "session"))
        progress.stage(Stage("returns", "a stage without words"))
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err


def test_in_a_file_each_stage_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys).splitlines() == [
        "fetching jars, 2 of 7: delta-spark",
        "orders: starting Spark",
        "orders: loading",
        "[/x] is said as it is",
        "returns: a stage without words",
    ]


def test_quiet_it_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, quiet=True) == ""


def test_on_a_terminal_one_line_moves(capsys: pytest.CaptureFixture[str], terminal: None) -> None:
    shown = told(capsys)

    assert "returns: a stage without words" in shown
    assert "\x1b[" in shown


def test_quiet_on_a_terminal_it_says_nothing(capsys: pytest.CaptureFixture[str], terminal: None) -> None:
    assert told(capsys, quiet=True) == ""
