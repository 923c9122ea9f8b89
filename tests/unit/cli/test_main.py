from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.cli.outcome import Cli

COMMANDS = ["validate", "schema", "plan", "run", "doctor", "demo", "runs", "table", "vault"]


def test_help_names_every_command(cli: Cli) -> None:
    outcome = cli("--help")

    assert outcome.code == 0
    assert [name for name in COMMANDS if f"  {name} " not in outcome.out] == []


@pytest.mark.parametrize(
    "command",
    [[name] for name in COMMANDS] + [["runs", name] for name in ("list", "show")]
    + [["table", name] for name in ("info", "history", "schema")]
    + [["vault", name] for name in ("init", "set", "list", "remove", "rotate-key")],
    ids=" ".join,
)  # fmt: skip
def test_every_command_explains_itself(cli: Cli, command: list[str]) -> None:
    outcome = cli(*command, "--help")

    assert outcome.code == 0
    assert f"deltaworks {' '.join(command)} " in outcome.out.splitlines()[0]


def test_help_fits_a_narrow_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    assert cli("run", "--help").code == 0


def test_the_version_is_printed(cli: Cli) -> None:
    outcome = cli("--version")

    assert outcome.code == 0
    assert outcome.out.startswith("deltaworks 0.")


def test_without_a_command_help_is_shown(cli: Cli) -> None:
    outcome = cli()

    assert outcome.code == 2
    assert "Usage: " in outcome.out + outcome.err


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["--nonsense"],
        ["validate"],
        ["validate", "--nonsense", "x.yaml"],
        ["table"],
        ["table", "nonsense"],
        ["table", "info"],
        ["table", "info", "a", "b"],
        ["table", "info", "a", "--version", "latest"],
        ["table", "history", "a", "-n", "0"],
        ["runs", "list", "-n", "many"],
        ["runs", "show"],
        ["vault"],
        ["vault", "set"],
        ["vault", "init", "--key", "nonsense"],
    ],
    ids=" ".join,
)
def test_nonsense_is_refused_with_a_word_of_help(cli: Cli, words: list[str]) -> None:
    outcome = cli(*words)

    assert outcome.code == 2
    assert "Usage: " in outcome.out + outcome.err
    assert "Traceback" not in outcome.err


def test_an_error_is_two_lines_on_stderr_and_an_exit_code(cli: Cli) -> None:
    outcome = cli("table", "info", "nothing")

    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.error == [
        "Error: There is no Delta table at nothing.",
        "Hint: Nothing is there; check the path, or run the pipeline that writes it first.",
    ]


def test_an_error_stays_two_lines_on_a_narrow_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")

    assert len(cli("table", "info", "nothing").error) == 2


@pytest.mark.parametrize("name", ["[bold]", "[/x]", "[red]a[/red]", r"a\[b]", "100%", "{x}", "日本"])
def test_an_error_says_what_was_typed_as_it_was_typed(cli: Cli, name: str) -> None:
    assert cli("table", "info", name).error[0] == f"Error: There is no Delta table at {name}."


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_stopped_says_so_and_exits_with_130(tmp_path: Path, number: signal.Signals) -> None:
    endless = tmp_path / "endless.yaml"
    os.mkfifo(endless)
    command = [sys.executable, "-m", "deltaworks.cli.main", "validate", str(endless)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:
        impatience = threading.Timer(60, child.kill)
        impatience.start()
        writer = opened_once_it_is_read(endless)
        wait_until_asleep(child.pid)
        child.send_signal(number)
        out, _ = child.communicate()
        impatience.cancel()
        os.close(writer)

    assert child.returncode == 130
    assert out.splitlines() == ["Error: Stopped.", "Hint: Run it again; what had landed is in the table."]


def test_output_that_cannot_be_written_is_a_clear_error() -> None:
    command = [sys.executable, "-m", "deltaworks.cli.main", "schema"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        "Error: The machine said no: [Errno 28] No space left on device.",
        "Hint: Is the disk full, or a right missing?",
    ]


def opened_once_it_is_read(fifo: Path) -> int:
    """Open a pipe as soon as somebody reads from it; they wait for what we never write."""
    deadline = time.monotonic() + 30
    while True:
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def wait_until_asleep(pid: int) -> None:
    """Wait until a process waits in `read`: of a signal just before it Python would hear only after it."""
    deadline = time.monotonic() + 30
    time.sleep(0.2)
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
        assert time.monotonic() < deadline
        time.sleep(0.02)
