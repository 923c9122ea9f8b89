from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.runs.records import record

from deltaworks.errors import RefusedError
from deltaworks.lake.folder import folder_at
from deltaworks.runs.folder import RunFolder
from deltaworks.runs.process import Process
from deltaworks.runs.result import Kept, LoadResult, StepResult

if TYPE_CHECKING:
    from tests.unit.cli.outcome import Cli

FIRST, SECOND = "20240101T000000-aaaa0000", "20240102T000000-bbbb0000"
ENDED = "2024-01-01T00:00:05.250+00:00"


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run that landed and one that was refused."""
    folder = RunFolder(folder_at(str(tmp_path / ".deltaworks" / "runs")))
    landed = record(FIRST, file="orders.yaml", key="monday", plan={"reads": "in.csv", "steps": ["filter: a", "sql: b"]})
    load = LoadResult(success=True, rows_read=1234567, rows_inserted=3, version=4)
    folder.save(replace(landed.landed(load).succeeded(), ended=ENDED))
    refused = record(SECOND, pipeline_id="returns").failed(RefusedError("Not [/x] done.", hint="Insist."))
    folder.save(refused)
    return folder


def test_without_runs_there_is_nothing_to_list(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("runs", "list")

    assert outcome.code == 0
    assert outcome.out == f"No runs in {tmp_path / '.deltaworks' / 'runs'} yet.\n"


def test_runs_are_listed_newest_first(cli: Cli, folder: RunFolder) -> None:
    header, second, first = cli("runs", "list").out.splitlines()

    assert header.split() == ["run", "pipeline", "status", "rows", "version", "seconds"]
    assert second.split()[:5] == [SECOND, "returns", "failed", "-", "-"]
    assert first.split() == [FIRST, "orders", "succeeded", "1,234,567", "4", "5.2"]


def test_runs_can_be_listed_for_machines(cli: Cli, folder: RunFolder) -> None:
    found = cli("runs", "list", "--json").json

    assert [run["run_id"] for run in found] == [SECOND, FIRST]
    assert found[1]["result"]["rows_read"] == 1234567
    assert cli("runs", "list", "--json", "--pipeline", "nothing").json == []


def test_the_list_can_be_short_or_of_one_pipeline(cli: Cli, folder: RunFolder) -> None:
    assert [run["run_id"] for run in cli("runs", "list", "-n", 1, "--json").json] == [SECOND]
    assert [run["run_id"] for run in cli("runs", "list", "--pipeline", "orders", "--json").json] == [FIRST]


@pytest.mark.parametrize("pipeline", ["/etc", "..", "*", "[/x]"])
def test_the_name_of_no_pipeline_is_no_pattern(cli: Cli, folder: RunFolder, pipeline: str) -> None:
    outcome = cli("runs", "list", "--pipeline", pipeline)

    assert outcome.code == 0
    assert outcome.out.startswith("No runs in ")


def test_a_run_is_shown_by_a_part_of_its_id(cli: Cli, folder: RunFolder) -> None:
    outcome = cli("runs", "show", "aaaa")

    lines = [re.split(r"\s{2,}", line, maxsplit=1) for line in outcome.out.splitlines()]
    assert outcome.code == 0
    for line in ("status", "succeeded"), ("file", "orders.yaml"), ("key", "monday"), ("rows read", "1,234,567"):
        assert list(line) in lines
    assert ["does", "filter: a"] in lines
    assert ["", "sql: b"] in lines


def test_a_run_tells_how_rules_were_kept_and_what_was_done_afterwards(cli: Cli, folder: RunFolder) -> None:
    rules = (Kept("positive", "drop", 3), Kept("known", "fail", 0))
    load = LoadResult(success=True, version=4, expectations=rules, notes=("the rows lack x",))
    done = StepResult(name="optimize", success=True, version=5, files_added=1, files_removed=12, seconds=0.8)
    failed = StepResult(name="vacuum", success=False, error="vacuum: No way.", hint="Try later.")
    closed = record(FIRST).landed(load).succeeded([done, failed])
    folder.save(replace(closed, after=[{**step, "later": 1} for step in closed.after]))

    lines = [re.split(r"\s{2,}", line, maxsplit=1) for line in cli("runs", "show", FIRST).out.splitlines()]

    at = lines.index(["rules", "positive: 3 rows, dropped"])
    assert lines[at + 1 : at + 6] == [
        ["", "known: all rows keep it"],
        ["note", "the rows lack x"],
        ["then", "optimize: 12 files became 1, version 5, 0.8 s"],
        ["", "vacuum failed: No way."],
        ["", "Hint: Try later."],
    ]


def test_a_failed_run_says_why_and_what_to_do(cli: Cli, folder: RunFolder) -> None:
    out = cli("runs", "show", SECOND).out

    assert "Not [/x] done." in out
    assert "Insist." in out
    assert f"{folder.uri}/returns/{SECOND}" in out


def test_a_run_can_be_shown_to_machines(cli: Cli, folder: RunFolder) -> None:
    found = cli("runs", "show", SECOND, "--json").json

    assert found["error"] == {"type": "RefusedError", "message": "Not [/x] done.", "hint": "Insist.", "exit_code": 4}
    assert found["status"] == "failed"


def test_an_unknown_run_is_two_lines(cli: Cli, folder: RunFolder) -> None:
    outcome = cli("runs", "show", "20240101T000000-aaaa1111")

    assert outcome.code == 2
    assert outcome.error == [
        "Error: No run has the id '20240101T000000-aaaa1111'.",
        f"Hint: Did you mean '{FIRST}'?",
    ]


def test_an_ambiguous_part_is_two_lines(cli: Cli, folder: RunFolder) -> None:
    assert cli("runs", "show", "0000").error[0] == "Error: 2 runs have '0000' in their id."


def test_a_killed_run_is_shown_as_interrupted(cli: Cli, folder: RunFolder) -> None:
    folder.save(record("20240103T000000-cccc0000", process=replace(Process.current(), started="1")))

    assert cli("runs", "list", "--json").json[0]["status"] == "interrupted"
    assert "The process ended before the run did." in cli("runs", "show", "cccc").out


def test_a_run_that_goes_on_is_shown_with_its_time_so_far(cli: Cli, folder: RunFolder) -> None:
    folder.save(record("20240103T000000-cccc0000"))

    outcome = cli("runs", "list", "-n", 1)

    assert outcome.out.splitlines()[1].split()[2] == "running"


def test_another_folder_may_be_named(cli: Cli, folder: RunFolder, tmp_path: Path) -> None:
    elsewhere = Path(folder.uri).rename(tmp_path / "else where")

    assert cli("runs", "list", "--json").json == []
    assert len(cli("runs", "list", "--runs", elsewhere, "--json").json) == 2
    assert cli("runs", "show", FIRST, "--runs", elsewhere).code == 0


def test_the_projects_folder_is_looked_at(cli: Cli, folder: RunFolder, tmp_path: Path) -> None:
    Path(folder.uri).rename(tmp_path / "records")
    (tmp_path / "deltaworks.yaml").write_text("runs: records\n")

    assert len(cli("runs", "list", "--json").json) == 2


def test_a_file_gets_whole_rows_however_narrow_the_terminal_was(
    cli: Cli, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    _, _, first = cli("runs", "list").out.splitlines()

    assert first.split() == [FIRST, "orders", "succeeded", "1,234,567", "4", "5.2"]


def test_a_narrow_terminal_gets_a_line_a_fact(cli: Cli, folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "xterm")

    shown = re.sub(r"\x1b\[[\d;]*m", "", cli("runs", "list").out).splitlines()

    assert max(map(len, shown)) <= 40
    assert ["run", FIRST] in [line.split() for line in shown]
    assert ["rows", "1,234,567"] in [line.split() for line in shown]
