from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deltaworks.cli import output
from deltaworks.runs.result import LoadResult, RunResult

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


def test_the_numbers_of_a_run_stand_under_their_names(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    load = LoadResult(success=True, rows_read=1_000_000, rows_inserted=7, version=1234, seconds=1.26)

    output.print_result(RunResult(run_id="r", pipeline_id="[/orders]", load=load, record=tmp_path))

    title, header, numbers = capsys.readouterr().out.splitlines()
    assert title == "[/orders]"
    assert header.split() == ["read", "inserted", "updated", "deleted", "version", "seconds"]
    assert numbers.split() == ["1,000,000", "7", "0", "0", "1234", "1.3"]


def test_what_is_not_known_is_a_dash(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output.print_result(RunResult(run_id="r", pipeline_id="orders", load=LoadResult(success=True), record=tmp_path))

    assert capsys.readouterr().out.splitlines()[2].split() == ["-", "0", "0", "0", "-", "0.0"]


@pytest.mark.parametrize(("version", "where"), [(3, " as version 3"), (None, "")])
def test_a_key_that_had_landed_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, version: int | None, where: str
) -> None:
    load = LoadResult.landed_before(version)

    output.print_result(RunResult(run_id="r", pipeline_id="orders", load=load, record=tmp_path))

    assert capsys.readouterr().out == f"orders: already landed{where}; nothing was written.\n"


def test_a_table_without_rows_is_its_header(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_rows(("a", "b"), [])

    assert capsys.readouterr().out.split() == ["a", "b"]
