from __future__ import annotations

import re
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


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 KB"),
        (1_500_000, "1.5 MB"),
        (2 * 10**9, "2.0 GB"),
        (3 * 10**15, "3000.0 TB"),
    ],
)
def test_bytes_are_said_as_people_say_them(count: int, expected: str) -> None:
    assert output.size(count) == expected


def test_a_table_without_rows_is_its_header(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_rows(("a", "b"), [])

    assert capsys.readouterr().out.split() == ["a", "b"]


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of a few columns."""
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "xterm")


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


@pytest.mark.usefixtures("narrow")
def test_a_header_of_two_lines_is_one_line_where_the_table_is_too_wide(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_rows(("id\nint", "name\nstring"), [(1, "a rather long name")])

    assert plain(capsys.readouterr().out).splitlines() == ["id int       1", "name string  a rather long name", ""]


@pytest.mark.usefixtures("narrow")
def test_a_table_without_rows_is_its_header_where_it_is_too_wide_too(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_rows(("a rather long", "header"), [])

    assert plain(capsys.readouterr().out).split() == ["a", "rather", "long", "header"]


def test_brackets_in_a_header_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_rows(("[bold]", "[/x]"), [("1", "2")])

    assert capsys.readouterr().out.splitlines()[0].split() == ["[bold]", "[/x]"]


@pytest.mark.parametrize(("count", "said"), [(0, "0 rows"), (1, "1 row"), (1234, "1,234 rows")])
def test_things_are_counted_as_people_count_them(count: int, said: str) -> None:
    assert output.counted(count, "row") == said
