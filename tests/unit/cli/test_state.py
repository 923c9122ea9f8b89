from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import CommitProperties, DeltaTable, Transaction
from tests.unit.pipeline.files import TEXT, saved
from tests.unit.tables import append, clean_up, commit_file, restore

from deltaworks.lake.commit import Commit, Position, incremental_app_id
from deltaworks.lake.file_lists import FileList
from deltaworks.lake.folder import Stored
from deltaworks.lake.table import open_table

if TYPE_CHECKING:
    from tests.unit.cli.outcome import Cli, Outcome

FOLLOWING = """\
pipelineId: orders
extract:
  sourceType: DeltaLake
  connectionParams:
    path: in
  incremental: true
load:
  sinkType: DeltaLake
  connectionParams:
    path: out
writeMode: Append
"""
NEW_FILES = TEXT.replace("path: in.csv", "path: files").replace("load:", "  incremental: true\nload:")


@pytest.fixture(autouse=True)
def orders(tmp_path: Path) -> Path:
    """A pipeline file, and a table of three versions to follow."""
    for _ in range(3):
        append(tmp_path / "in")
    return saved(tmp_path, FOLLOWING)


def source_of(folder: Path) -> str:
    return f"delta:{open_table(folder / 'in').id}"


def land(folder: Path, batch: int, end: Any, *, pipeline: str = "orders", source: str | None = None) -> int:
    """Land a batch as a run does, which has read up to `end`; of a Delta table, a version."""
    out = folder / "out"
    seen = DeltaTable(out).version() if DeltaTable.is_deltatable(str(out)) else -1
    end = {"version": end, "index": -1, "snapshot": False} if isinstance(end, int) else end
    commit = Commit(
        run_id=f"run-{batch}",
        pipeline=pipeline,
        batch=batch,
        position=Position(source=source or source_of(folder), start={"version": 0}, end=end),
        user="ann",
        host="shop",
        seen=seen,
    )
    mark = Transaction(incremental_app_id(pipeline), batch)
    properties = CommitProperties(custom_metadata={"userMetadata": commit.to_json()}, app_transactions=[mark])
    return append(out, commit=properties)


def facts(outcome: Outcome) -> dict[str, str]:
    """What a command printed, by name."""
    assert outcome.code == 0, outcome.err
    found = (re.split(r"\s{2,}", line, maxsplit=1) for line in outcome.out.splitlines())
    return {pair[0]: pair[1] for pair in found if len(pair) == 2}


def said(folder: Path, version: int) -> dict[str, Any]:
    """What a commit says of itself."""
    line = commit_file(folder / "out", version).read_text().splitlines()[0]
    return dict(json.loads(json.loads(line)["commitInfo"]["userMetadata"]))


# Looking


def test_a_pipeline_that_has_landed_is_shown_with_where_since_when_and_by_whom(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 2)

    shown = facts(cli("state", "show", "orders.yaml"))

    assert (shown["pipeline"], shown["target"]) == ("orders", f"{tmp_path}/out")
    assert (shown["source"], shown["position"], shown["source ends"]) == (source_of(tmp_path), "version 2", "version 3")
    assert (shown["batch"], shown["by"], shown["version"]) == ("1", "run run-1 (ann@shop)", "0")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", shown["since"])
    assert not {"next run", "hint", "moved", "first run"} & shown.keys()


def test_machines_read_the_position_as_set_takes_it(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 2)

    shown = cli("state", "show", "orders.yaml", "--json").json
    position = json.dumps(shown["stand"]["position"]["to"])
    moved = cli("state", "set", "orders.yaml", "--position", position, "--json").json

    assert (shown["pipeline_id"], shown["part"], shown["end"], shown["problem"]) == ("orders", None, "version 3", None)
    assert (shown["stand"]["batch"], shown["stand"]["user"], shown["stand"]["version"]) == (1, "ann", 0)
    assert datetime.fromisoformat(shown["stand"]["at"]).tzinfo
    assert moved["position"]["to"] == shown["stand"]["position"]["to"]


@pytest.mark.parametrize("there", [True, False])
def test_a_pipeline_that_has_landed_nothing_says_where_it_would_begin(cli: Cli, tmp_path: Path, there: bool) -> None:
    if there:
        append(tmp_path / "out")

    shown = facts(cli("state", "show", "orders.yaml"))

    assert shown["position"] == "none: it has landed nothing there yet"
    assert shown["first run"] == "would begin with all rows of version 2"


def test_what_a_restore_means_for_the_next_run_is_shown(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1)
    land(tmp_path, 2, 2)
    restore(tmp_path / "out", 0)

    shown = facts(cli("state", "show", "orders.yaml"))

    assert (shown["position"], shown["batch"]) == ("version 2", "2")
    assert shown["next run"].startswith("would be refused: ")
    assert "was restored after pipeline 'orders' had landed batch 2" in shown["next run"]
    assert "state rewind" in shown["hint"]
    assert "state keep" in shown["hint"]


def made_anew(folder: Path) -> None:
    """Drop the target, and make another one in its place."""
    shutil.rmtree(folder / "out" / "_delta_log")
    append(folder / "out")


def noted(cli: Cli) -> None:
    """Leave a note of the position beside the table, as every run does."""
    assert cli("state", "set", "orders.yaml", "--position", 1, "--yes").code == 0


@pytest.mark.parametrize("again", [True, False])
def test_a_table_that_was_made_anew_or_dropped_is_shown_with_what_was_noted_beside_it(
    cli: Cli, tmp_path: Path, again: bool
) -> None:
    land(tmp_path, 1, 2)
    noted(cli)
    made_anew(tmp_path)
    if not again:
        shutil.rmtree(tmp_path / "out" / "_delta_log")

    shown = facts(cli("state", "show", "orders.yaml"))

    assert (shown["position"], shown["batch"]) == ("version 1", "2")
    assert "is not the table any more" in shown["next run"]
    assert "--full-refresh" in shown["hint"]


def test_a_source_that_is_away_is_told_and_the_position_is_shown_all_the_same(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 2)
    shutil.rmtree(tmp_path / "in")

    shown = facts(cli("state", "show", "orders.yaml"))

    assert shown["position"] == "version 2"
    assert shown["source ends"].startswith("unknown: There is no Delta table")
    assert cli("state", "show", "orders.yaml", "--json").json["end_unknown"].startswith("There is no Delta table")


def test_a_position_of_another_source_is_shown_as_it_stands(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, {"offsets": {"orders": {"0": 7}}}, source="kafka:there")

    shown = facts(cli("state", "show", "orders.yaml"))

    assert shown["position"] == '{"offsets": {"orders": {"0": 7}}}'
    assert "has read kafka:there so far" in shown["next run"]


def test_a_position_that_nobody_knows_is_told(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 2)
    append(tmp_path / "out")
    clean_up(tmp_path / "out", before=1)

    shown = facts(cli("state", "show", "orders.yaml"))

    assert "neither its log nor its cache says" in shown["next run"]
    assert "position" not in shown


def test_a_long_line_is_whole_in_a_file_and_on_a_narrow_terminal(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(tmp_path, 1, 2)
    wide = cli("state", "show", "orders.yaml").out

    monkeypatch.setenv("COLUMNS", "20")

    assert cli("state", "show", "orders.yaml").out == wide
    assert f"target       {tmp_path}/out" in wide.splitlines()


def test_the_last_moves_are_shown_the_newest_first(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 3)
    for number in range(7):
        assert cli("state", "set", "orders.yaml", "--position", number % 3, "--why", f"try {number}", "--yes").code == 0

    moves = cli("state", "show", "orders.yaml", "--json").json["moves"]
    lines = cli("state", "show", "orders.yaml").out.splitlines()

    assert [each["why"] for each in moves] == ["try 6", "try 5", "try 4", "try 3", "try 2"]
    assert sum(": try " in line for line in lines) == 5
    assert lines[-5].startswith("moved ")
    assert lines[-4].startswith("       ")


# Every move


MOVES = {
    "rewind": ("state", "rewind", "orders.yaml", "--to-version", 0),
    "set": ("state", "set", "orders.yaml", "--position", 1),
    "keep": ("state", "keep", "orders.yaml"),
    "adopt": ("state", "adopt", "orders.yaml", "sales"),
}
UNSAID = {
    "rewind": "state rewind --to-version 0",
    "set": "state set --position 1",
    "keep": "state keep",
    "adopt": "state adopt sales",
}


def movable(folder: Path, move: str) -> int:
    """Make what a move is for; which version that is."""
    land(folder, 1, 1, pipeline="sales" if move == "adopt" else "orders")
    if move != "adopt":
        land(folder, 2, 2)
    return restore(folder / "out", 0) if move == "keep" else open_table(folder / "out").version


@pytest.mark.parametrize("move", MOVES)
def test_without_yes_a_move_is_shown_and_not_made(cli: Cli, tmp_path: Path, move: str) -> None:
    before = movable(tmp_path, move)

    outcome = cli(*MOVES[move])

    assert outcome.code == 0
    assert outcome.out.splitlines()[-1] == "Nothing was moved: add --yes to do it."
    assert "version" not in facts(outcome)
    assert open_table(tmp_path / "out").version == before
    assert cli(*MOVES[move], "--json").json["done"] is False


@pytest.mark.parametrize("move", MOVES)
def test_a_move_is_one_commit_that_says_who_and_why_and_changes_no_row(cli: Cli, tmp_path: Path, move: str) -> None:
    before = movable(tmp_path, move)
    rows = open_table(tmp_path / "out").to_arrow()

    outcome = cli(*MOVES[move], "--why", "the shop asked", "--yes")

    assert facts(outcome)["version"] == str(before + 1)
    assert outcome.out.splitlines()[-1] == "The position was moved."
    assert open_table(tmp_path / "out").version == before + 1
    assert open_table(tmp_path / "out").to_arrow() == rows
    [commit] = cli("table", "history", "out", "--limit", 1, "--json").json
    assert (commit["operation"], commit["pipeline"], commit["why"]) == ("MOVE POSITION", "orders", "the shop asked")
    assert commit["user"]
    assert commit["host"]
    assert commit["timestamp"]
    assert said(tmp_path, before + 1)["run"] == commit["run"]


@pytest.mark.parametrize("move", MOVES)
def test_a_move_without_a_reason_says_what_was_asked_for(cli: Cli, tmp_path: Path, move: str) -> None:
    movable(tmp_path, move)

    assert cli(*MOVES[move], "--json").json["why"] == UNSAID[move]


@pytest.mark.parametrize("move", MOVES)
def test_the_note_beside_the_table_follows_a_move(cli: Cli, tmp_path: Path, move: str) -> None:
    version = movable(tmp_path, move) + 1
    moved = cli(*MOVES[move], "--yes", "--json").json

    note = json.loads((tmp_path / "out/_deltaworks/orders.json").read_text())

    assert (note["version"], note["batch"], note["why"]) == (version, moved["batch"], UNSAID[move])
    assert note["position"] == moved["position"]


@pytest.mark.parametrize("move", MOVES)
def test_the_next_run_begins_where_the_position_was_moved_to(cli: Cli, tmp_path: Path, move: str) -> None:
    from deltaworks.cli.edge import workspace
    from deltaworks.pipeline.incremental import start_of
    from deltaworks.pipeline.state import incremental

    movable(tmp_path, move)
    moved = cli(*MOVES[move], "--yes", "--json").json
    space = workspace(tmp_path / "orders.yaml")
    config = space.read(tmp_path / "orders.yaml")

    start = start_of(incremental(config, space.around(config)))

    assert (start.position, start.batch) == (moved["position"]["to"], moved["batch"])
    assert start.position == {"version": 2 if move == "keep" else 1, "index": -1, "snapshot": False}


def test_a_run_that_finds_nothing_new_says_since_when_and_where_both_ends_are(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1)
    cli("state", "set", "orders.yaml", "--position", 3, "--yes")

    outcome = cli("run", "orders.yaml", "--quiet")

    assert re.match(r"orders: nothing new since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.$", outcome.out.splitlines()[0])
    assert facts(outcome) == {"position": "version 3", "source ends": "version 3", "batch": "2"}


@pytest.mark.parametrize("move", [*MOVES, "show"])
def test_a_pipeline_that_reads_all_rows_has_no_position(cli: Cli, tmp_path: Path, move: str) -> None:
    saved(tmp_path, FOLLOWING.replace("  incremental: true\n", ""))

    outcome = cli(*MOVES.get(move, ("state", "show", "orders.yaml")))

    assert outcome.code == 2
    assert outcome.error == [
        "Error: Pipeline 'orders' reads all rows each time, so that it has no position.",
        "Hint: Only a pipeline with `incremental` in its extract has one.",
    ]


@pytest.mark.parametrize("move", MOVES)
def test_where_there_is_no_table_no_position_can_be_moved(cli: Cli, tmp_path: Path, move: str) -> None:
    outcome = cli(*MOVES[move], "--yes")

    assert outcome.code == 2
    assert outcome.error[0] == f"Error: There is no Delta table at {tmp_path}/out."


@pytest.mark.parametrize("move", MOVES)
def test_in_a_table_that_forgets_marks_no_position_is_moved(cli: Cli, tmp_path: Path, move: str) -> None:
    movable(tmp_path, move)
    forgets = {"delta.setTransactionRetentionDuration": "interval 1 days"}
    DeltaTable(tmp_path / "out").alter.set_table_properties(forgets, raise_if_not_exists=False)

    outcome = cli(*MOVES[move], "--yes")

    assert outcome.code == 4
    assert "forgets which loads have landed" in outcome.error[0]


@pytest.mark.parametrize("move", ["rewind", "set", "keep"])
def test_a_pipeline_that_was_given_up_is_not_moved_behind_the_back_of_the_one_that_goes_on(
    cli: Cli, tmp_path: Path, move: str
) -> None:
    land(tmp_path, 1, 1)
    saved(tmp_path, FOLLOWING.replace("orders", "sales"), "sales.yaml")
    assert cli("state", "adopt", "sales.yaml", "orders", "--yes").code == 0

    outcome = cli(*MOVES[move], "--yes")

    assert outcome.code == 4
    assert "was given up" in outcome.error[0]
    assert "state adopt FILE sales" in outcome.error[1]


# Rewind


def test_after_a_restore_a_rewind_loads_again_what_went(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1)
    land(tmp_path, 2, 2)
    restore(tmp_path / "out", 0)

    moved = facts(cli("state", "rewind", "orders.yaml", "--to-version", 0, "--yes"))

    assert (moved["from"], moved["to"]) == ("version 2", "version 1")
    assert "next run" not in facts(cli("state", "show", "orders.yaml"))


def test_the_version_that_the_restore_made_says_the_same(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1)
    land(tmp_path, 2, 2)
    back = restore(tmp_path / "out", 0)

    assert facts(cli("state", "rewind", "orders.yaml", "--to-version", back))["to"] == "version 1"


def test_a_version_whose_rows_went_is_refused_because_they_would_be_lost(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1)
    land(tmp_path, 2, 2)
    back = restore(tmp_path / "out", 0)

    outcome = cli("state", "rewind", "orders.yaml", "--to-version", 1, "--yes")

    assert outcome.code == 4
    assert "has taken back rows" in outcome.error[0]
    assert f"--to-version {back}" in outcome.error[1]
    assert open_table(tmp_path / "out").version == back


@pytest.mark.parametrize("version", [2, 77, -1])
def test_a_version_that_does_not_exist_is_told_with_those_that_do(cli: Cli, tmp_path: Path, version: int) -> None:
    land(tmp_path, 1, 1)
    land(tmp_path, 2, 2)

    outcome = cli("state", "rewind", "orders.yaml", "--to-version", version)

    assert outcome.error == [
        f"Error: Version {version} of {tmp_path}/out does not exist.",
        "Hint: Versions 0 to 1 do.",
    ]


def test_a_version_before_the_first_batch_is_refused(cli: Cli, tmp_path: Path) -> None:
    append(tmp_path / "out")
    land(tmp_path, 1, 1)

    outcome = cli("state", "rewind", "orders.yaml", "--to-version", 0)

    assert outcome.code == 4
    assert "had landed nothing" in outcome.error[0]
    assert "--full-refresh" in outcome.error[1]


def test_a_version_that_log_clean_up_has_taken_is_refused(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1)
    land(tmp_path, 2, 2)
    append(tmp_path / "out")
    clean_up(tmp_path / "out", before=2)

    gone = cli("state", "rewind", "orders.yaml", "--to-version", 0)
    unsaid = cli("state", "rewind", "orders.yaml", "--to-version", 2)

    assert "does not exist" in gone.error[0]
    assert "begins with version 2" in unsaid.error[0]
    assert "state set FILE --position" in unsaid.error[1]


def test_a_rewind_to_where_the_source_can_no_longer_be_read_is_refused(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1)
    land(tmp_path, 2, 3)
    clean_up(tmp_path / "in", before=2)

    outcome = cli("state", "rewind", "orders.yaml", "--to-version", 0, "--yes")

    assert outcome.code == 4
    assert "cannot be followed from where the last batch ended" in outcome.error[0]
    assert facts(cli("state", "show", "orders.yaml"))["position"] == "version 3"


def test_a_rewind_to_a_position_of_another_source_is_refused(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1, source="delta:another")
    land(tmp_path, 2, 2)

    outcome = cli("state", "rewind", "orders.yaml", "--to-version", 0, "--yes")

    assert outcome.code == 4
    assert "has read delta:another so far" in outcome.error[0]


def test_a_pipeline_with_a_new_name_is_rewound_to_what_it_landed_under_the_old_one(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1, pipeline="sales")
    land(tmp_path, 2, 2, pipeline="sales")
    cli("state", "adopt", "orders.yaml", "sales", "--yes")
    land(tmp_path, 2, 3)
    restore(tmp_path / "out", 0)

    moved = facts(cli("state", "rewind", "orders.yaml", "--to-version", 0, "--yes"))

    assert (moved["from"], moved["to"]) == ("version 3", "version 1")


def test_a_pipeline_that_got_its_old_name_back_is_rewound_to_what_landed_in_between(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, FOLLOWING.replace("orders", "sales"), "sales.yaml")
    land(tmp_path, 1, 1)
    cli("state", "adopt", "sales.yaml", "orders", "--yes")
    between = land(tmp_path, 2, 2, pipeline="sales")
    cli("state", "adopt", "orders.yaml", "sales", "--yes")
    land(tmp_path, 4, 3)

    assert facts(cli("state", "rewind", "orders.yaml", "--to-version", between))["to"] == "version 2"
    assert facts(cli("state", "rewind", "orders.yaml", "--to-version", 0))["to"] == "version 1"


# Set


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0", "version 0"),
        ("3", "version 3"),
        ('{"version": 2}', "version 2"),
        ('{"version": 2, "index": 0}', "version 2, file 1"),
        ('{"version": 2, "snapshot": true}', "all rows of version 2"),
        ("null", "the beginning"),
    ],
)
def test_a_position_can_be_written_by_hand(cli: Cli, tmp_path: Path, text: str, told: str) -> None:
    land(tmp_path, 1, 1)

    moved = facts(cli("state", "set", "orders.yaml", "--position", text, "--yes"))

    assert (moved["from"], moved["to"]) == ("version 1", told)
    assert facts(cli("state", "show", "orders.yaml"))["position"] == told


def test_a_position_can_be_read_from_a_file(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1)
    saved(tmp_path, '{"version": 2}\n', "position.json")

    assert facts(cli("state", "set", "orders.yaml", "--position", "@position.json"))["to"] == "version 2"


@pytest.mark.parametrize("text", ["nonsense", "", "{", "[]", "true", '"2"', "1.5", "-1", "{}", '{"version": "2"}'])
def test_what_is_no_position_is_refused_in_two_lines(cli: Cli, tmp_path: Path, text: str) -> None:
    land(tmp_path, 1, 1)

    outcome = cli("state", "set", "orders.yaml", "--position", text, "--yes")

    error, hint = outcome.error
    assert outcome.code == 2
    assert f"{text} is no position of this source" in error
    assert "state show FILE --json" in hint
    assert open_table(tmp_path / "out").version == 0


def test_a_position_behind_the_end_of_the_source_is_refused(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1)

    outcome = cli("state", "set", "orders.yaml", "--position", 9, "--yes")

    assert outcome.code == 2
    assert "9 is no position of this source" in outcome.error[0]
    assert "it is at version 2 only" in outcome.error[0]
    assert "state show" in outcome.error[1]


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_told(cli: Cli, tmp_path: Path, content: bytes | None) -> None:
    land(tmp_path, 1, 1)
    if content:
        saved(tmp_path, content, "position.json")

    outcome = cli("state", "set", "orders.yaml", "--position", "@position.json")

    assert outcome.code == 2
    assert outcome.error[0].startswith("Error: The file position.json cannot be read")


def test_a_position_that_was_lost_can_be_set(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1)
    append(tmp_path / "out")
    clean_up(tmp_path / "out", before=1)

    moved = facts(cli("state", "set", "orders.yaml", "--position", 2, "--yes"))

    assert (moved["from"], moved["to"]) == ("unknown", "version 2")
    assert facts(cli("state", "show", "orders.yaml"))["batch"] == "2"


def test_a_pipeline_that_has_landed_nothing_can_be_told_where_to_begin(cli: Cli, tmp_path: Path) -> None:
    append(tmp_path / "out")

    assert facts(cli("state", "set", "orders.yaml", "--position", 2, "--yes"))["from"] == "nothing yet"
    assert facts(cli("state", "show", "orders.yaml"))["position"] == "version 2"


# Keep


def test_after_a_restore_keep_goes_on_without_the_rows(cli: Cli, tmp_path: Path) -> None:
    movable(tmp_path, "keep")

    moved = facts(cli("state", "keep", "orders.yaml", "--yes"))

    assert moved["from"] == moved["to"] == "version 2"
    assert "next run" not in facts(cli("state", "show", "orders.yaml"))


def test_in_a_table_that_was_made_anew_keep_goes_on_and_numbers_too(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 2)
    noted(cli)
    made_anew(tmp_path)

    facts(cli("state", "keep", "orders.yaml", "--yes"))

    shown = facts(cli("state", "show", "orders.yaml"))
    assert (shown["position"], shown["batch"], shown["version"]) == ("version 1", "3", "1")
    assert "next run" not in shown


def test_where_no_row_went_there_is_nothing_to_keep(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1)

    outcome = cli("state", "keep", "orders.yaml", "--yes")

    assert outcome.code == 4
    assert outcome.error[1] == "Hint: There is nothing to decide: run it."


def test_what_nobody_knows_cannot_be_kept(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1)
    append(tmp_path / "out")
    clean_up(tmp_path / "out", before=1)

    outcome = cli("state", "keep", "orders.yaml", "--yes")

    assert outcome.code == 1
    assert "state set FILE --position" in outcome.error[1]


# Adopt


def test_a_pipeline_with_a_new_name_goes_on_and_the_old_one_is_told(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, FOLLOWING.replace("orders", "sales"), "sales.yaml")
    land(tmp_path, 1, 3)
    refused = cli("run", "sales.yaml", "--quiet")

    adopted = facts(cli("state", "adopt", "sales.yaml", "orders", "--yes"))

    assert (refused.code, "state adopt FILE orders" in refused.error[1]) == (4, True)
    assert (adopted["pipeline"], adopted["gives up"], adopted["to"]) == ("sales", "orders", "version 3")
    assert cli("run", "sales.yaml", "--quiet").code == 0
    old = cli("run", "orders.yaml", "--quiet")
    assert old.code == 4
    assert "'sales' goes on in its place" in old.error[0]
    assert "next run" in facts(cli("state", "show", "orders.yaml"))


def test_a_name_that_was_given_up_can_be_taken_back(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, FOLLOWING.replace("orders", "sales"), "sales.yaml")
    land(tmp_path, 1, 2)
    cli("state", "adopt", "sales.yaml", "orders", "--yes")

    facts(cli("state", "adopt", "orders.yaml", "sales", "--yes"))

    assert "next run" not in facts(cli("state", "show", "orders.yaml"))
    assert "next run" in facts(cli("state", "show", "sales.yaml"))


def test_a_name_that_holds_no_position_is_told_with_one_that_does(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1, pipeline="sales")

    outcome = cli("state", "adopt", "orders.yaml", "sale")

    assert outcome.code == 2
    assert outcome.error[1] == "Hint: Did you mean 'sales'?"


def test_a_position_of_another_source_is_not_adopted(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path, 1, 1, pipeline="sales", source="delta:another")

    assert "No pipeline 'sales' holds a position of this source" in cli("state", "adopt", "orders.yaml", "sales").err


@pytest.mark.parametrize("old", ["sales", "orders"])
def test_a_pipeline_that_stands_somewhere_adopts_nothing(cli: Cli, tmp_path: Path, old: str) -> None:
    land(tmp_path, 1, 1)
    land(tmp_path, 1, 1, pipeline="sales")

    outcome = cli("state", "adopt", "orders.yaml", old, "--yes")

    assert outcome.code == 4
    assert "has a position of its own" in outcome.error[0]


def test_rows_of_the_old_name_that_went_are_decided_on_first(cli: Cli, tmp_path: Path) -> None:
    append(tmp_path / "out")
    land(tmp_path, 1, 1, pipeline="sales")
    restore(tmp_path / "out", 0)

    outcome = cli("state", "adopt", "orders.yaml", "sales", "--yes")

    assert outcome.code == 4
    assert "pipeline 'sales'" in outcome.error[0]


# Files


def test_a_pipeline_of_files_is_shown_and_set_by_time(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, NEW_FILES)
    (tmp_path / "files").mkdir()
    saved(tmp_path / "files", "id\n1\n", "a.csv")
    append(tmp_path / "out")

    first = facts(cli("state", "show", "orders.yaml"))
    facts(cli("state", "set", "orders.yaml", "--position", '{"since": "2024-01-31T12:00:00Z"}', "--yes"))
    second = facts(cli("state", "show", "orders.yaml"))

    assert (first["first run"], first["source ends"][:21]) == ("would begin with no files", "1 file, the newest of")
    assert (second["source"], second["position"]) == (f"files:{tmp_path}/files", "files since 2024-01-31T12:00:00Z")


def test_files_that_were_read_are_known_again_after_a_rewind(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, NEW_FILES)
    (tmp_path / "files").mkdir()
    saved(tmp_path / "files", "id\n1\n", "a.csv")
    name, through = "orders/files/20240131T120000-1.json", "2024-01-31T12:00:00.000000Z"
    listed = tmp_path / "out/_deltaworks" / name
    listed.parent.mkdir(parents=True)
    listed.write_text(FileList({"a.csv": Stored("a.csv", 5, 1, "")}).to_json())
    one = {"list": name, "files": 1, "bytes": 5, "through": through}
    land(tmp_path, 1, one, source=f"files:{tmp_path}/files")
    land(tmp_path, 2, one | {"files": 2}, source=f"files:{tmp_path}/files")

    moved = cli("state", "rewind", "orders.yaml", "--to-version", 0, "--json").json
    listed.unlink()
    lost = cli("state", "rewind", "orders.yaml", "--to-version", 0)

    assert (moved["position"]["to"], moved["to"]) == (one, f"1 file, the newest of {through}")
    assert lost.code == 4
    assert "is not there" in lost.error[0]


@pytest.mark.parametrize(
    "text",
    ['{"since": "soon"}', '{"version": 2}', "[1]", '{"list": 5}', '{"list": "../x"}', '{"since": 5}', '{"files": "x"}'],
)
def test_what_is_no_position_of_files_is_refused(cli: Cli, tmp_path: Path, text: str) -> None:
    saved(tmp_path, NEW_FILES)
    (tmp_path / "files").mkdir()
    append(tmp_path / "out")

    outcome = cli("state", "set", "orders.yaml", "--position", text, "--yes")

    assert outcome.code == 2
    assert len(outcome.error) == 2


# Without Spark, and with a name only Spark knows


WITHOUT_SPARK = """
import sys
sys.modules |= dict.fromkeys(["pyspark", "delta", "py4j"])
from deltaworks.cli.main import main
main()
"""


def test_positions_are_shown_and_moved_where_spark_is_not_installed(tmp_path: Path) -> None:
    land(tmp_path, 1, 1)
    land(tmp_path, 2, 2)

    def call(*words: str) -> str:
        command = [sys.executable, "-c", WITHOUT_SPARK, *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert "The position was moved." in call("state", "rewind", "orders.yaml", "--to-version", "0", "--yes")
    assert "position     version 1" in call("state", "show", "orders.yaml").splitlines()


def test_a_table_that_only_spark_finds_is_told_to_be_named_by_its_path(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, FOLLOWING.replace("path: out", "table: sales.orders"))

    outcome = cli("state", "show", "orders.yaml")

    assert outcome.code == 3
    assert outcome.error[1] == "Hint: Name the table by its path in the file."


# The documents


PAGE = (Path(__file__).parents[3] / "docs/state.md").read_text()
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_of_the_documents_do_what_they_say(cli: Cli, tmp_path: Path, line: str) -> None:
    program, _, verb, *_ = words = shlex.split(line)
    saved(tmp_path, FOLLOWING.replace("orders", "sales"), "sales.yaml")
    saved(tmp_path, '{"version": 1}', "position.json")
    movable(tmp_path, "keep" if verb in {"rewind", "keep"} else "show")

    outcome = cli(*words[1:])

    assert program == "deltaworks"
    assert facts(outcome)
    assert verb == "show" or outcome.out.splitlines()[-1] == "The position was moved."


def test_the_documents_show_a_position_as_it_is_shown(cli: Cli, tmp_path: Path) -> None:
    movable(tmp_path, "show")
    (example,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)

    shown = cli("state", "show", "orders.yaml").out

    assert [line[:11] for line in shown.splitlines()] == [line[:11] for line in example.splitlines()]
