from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from tests.unit.pipeline.files import TEXT, saved
from tests.unit.tables import append, commit_file, land, restore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.cli.outcome import Cli


@pytest.fixture(autouse=True)
def orders(tmp_path: Path) -> Path:
    """A pipeline file with something to read."""
    saved(tmp_path, "id\n1\n", "in.csv")
    return saved(tmp_path, TEXT)


def test_a_key_that_landed_is_answered_at_once(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path / "out", "monday")

    outcome = cli("run", "orders.yaml", "--key", "monday")

    assert outcome.code == 0
    assert "orders: already landed as version 0; nothing was written." in outcome.out


def test_a_key_that_landed_can_be_read_by_machines(cli: Cli, tmp_path: Path) -> None:
    land(tmp_path / "out", "monday")

    [result] = cli("run", "orders.yaml", "--key", "monday", "--json").json

    assert (result["pipeline_id"], result["already_landed"], result["version"]) == ("orders", True, 0)
    assert result["success"] is True


def test_a_key_taken_back_by_a_restore_exits_with_4(cli: Cli, tmp_path: Path) -> None:
    append(tmp_path / "out")
    land(tmp_path / "out", "monday")
    restore(tmp_path / "out", 0)

    outcome = cli("run", "orders.yaml", "--key", "monday", "--quiet")

    assert outcome.code == 4
    assert "--again" in outcome.error[1]


def test_a_failed_run_says_where_its_record_is_and_how_to_see_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in.csv").unlink()

    outcome = cli("run", "orders.yaml", "--quiet")

    error, hint, where, see = outcome.error
    run_id = where.rpartition("/")[2]
    assert outcome.code == 2
    assert "There is nothing to read at" in error
    assert hint.startswith("Hint: ")
    assert where.startswith(f"Record: {tmp_path}/.deltaworks/runs/orders/")
    assert see == f"See it: deltaworks runs show {run_id}"
    assert cli("runs", "show", run_id).code == 0


def test_a_record_that_lies_elsewhere_is_seen_with_its_folder(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    saved(tmp_path / "sub", TEXT)
    saved(tmp_path / "sub", "runs: all runs\n", "deltaworks.yaml")

    see = cli("run", "sub/orders.yaml", "--quiet").error[-1]

    assert see.endswith(f" --runs '{tmp_path}/sub/all runs'")


def test_the_first_failure_stops_the_rest(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, TEXT.replace("in.csv", "nothing.csv"), "a.yaml")
    land(tmp_path / "out", "monday")

    told = cli("run", "a.yaml", "orders.yaml", "--key", "monday", "--json", "--set", "load.connectionParams.path=new")

    assert told.code == 2
    assert [result["success"] for result in told.json] == [False]


def test_it_goes_on_when_asked_to(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, TEXT.replace("in.csv", "nothing.csv").replace("path: out", "path: other"), "a.yaml")
    land(tmp_path / "out", "monday")

    told = cli("run", "a.yaml", "orders.yaml", "--key", "monday", "--json", "--keep-going")

    assert told.code == 2
    assert [result["success"] for result in told.json] == [False, True]


def test_one_bad_file_stops_all_before_anything_runs(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, TEXT.replace("Append", "Add"), "bad.yaml")

    outcome = cli("run", "orders.yaml", "bad.yaml", "--keep-going")

    assert outcome.code == 2
    assert outcome.error[0] == "Error: bad.yaml:11: writeMode: 'Add' is not known."
    assert not (tmp_path / ".deltaworks").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--again"], "--again needs a key."),
        (["--key", ""], "A key is 1 to 256 printable characters, without blanks around them."),
        (["--conf", "x"], "--conf 'x' has no value."),
        (["--env", "prod"], "There is no deltaworks.yaml to find --env prod in."),
        (["--set", "x"], "--set 'x' has no value."),
        (["--limit", "5"], "--limit is for --dry-run: a run loads all rows or none."),
        (["--dry-run", "--key", "k"], "--dry-run lands nothing, so --key has no meaning."),
        (["--dry-run", "--again"], "--dry-run lands nothing, so --again has no meaning."),
    ],
)
def test_nonsense_is_refused_before_spark_starts(cli: Cli, words: list[str], message: str) -> None:
    outcome = cli("run", "orders.yaml", "--quiet", *words)

    assert outcome.code == 2
    assert outcome.error[0] == f"Error: {message}"


def test_a_credential_that_is_not_there_exits_with_3(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, TEXT.replace("sinkType", "credentialId: lake-s3\n  sinkType"))

    outcome = cli("run", "orders.yaml", "--quiet")

    assert outcome.code == 3
    assert "DELTAWORKS_LAKE_S3__PASSWORD" in outcome.error[1]


def test_stages_are_told_on_stderr_and_nothing_when_quiet(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in.csv").unlink()

    assert "orders: looking at the source" in cli("run", "orders.yaml").err
    assert "looking at the source" not in cli("run", "orders.yaml", "--quiet").err


@pytest.fixture
def verbose() -> Iterator[None]:
    """Leave the log as it was: a command need not, its process ends."""
    logger = logging.getLogger("deltaworks")
    before = list(logger.handlers)
    yield
    logger.handlers = before


def test_the_log_is_shown_when_asked_for(cli: Cli, tmp_path: Path, verbose: None) -> None:
    land(tmp_path / "out", "monday")

    outcome = cli("run", "orders.yaml", "--key", "monday", "-v")

    assert outcome.code == 0
    assert " done: LoadResult(success=True" in outcome.err


def test_a_shown_log_hides_secrets_in_its_tracebacks_too(
    cli: Cli, tmp_path: Path, verbose: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELTAWORKS_LAKE__PASSWORD", "canary")
    saved(tmp_path, TEXT.replace("sinkType", "credentialId: lake\n  sinkType").replace("out", "canary"))
    for _ in range(3):
        append(tmp_path / "canary")
    commit_file(tmp_path / "canary", 1).unlink()

    outcome = cli("run", "orders.yaml", "-v")

    assert outcome.code == 1
    assert "Traceback" in outcome.err
    assert "canary" not in outcome.out + outcome.err


def test_a_plan_of_a_bad_file_is_refused_too(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, TEXT.replace("Append", "Upsert"), "bad.yaml")

    assert cli("plan", "bad.yaml").error[0] == "Error: bad.yaml:7: load: Upsert needs mergeKeys."


def test_a_plan_of_what_is_not_there_is_refused_before_spark_starts(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in.csv").unlink()

    outcome = cli("plan", "orders.yaml", "--quiet")

    assert outcome.code == 2
    assert "There is nothing to read at" in outcome.error[0]
    assert not (tmp_path / ".deltaworks").exists()


def test_files_of_several_projects_are_not_run_together(cli: Cli, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        saved(tmp_path / name, TEXT)
        saved(tmp_path / name, "runs: runs\n", "deltaworks.yaml")

    outcome = cli("run", "a/orders.yaml", "b/orders.yaml")

    assert outcome.code == 2
    assert "These files belong to several projects" in outcome.error[0]


def test_without_a_project_records_are_kept_where_the_command_was_typed(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    saved(tmp_path / "deep", TEXT)
    land(tmp_path / "deep" / "out", "monday")

    cli("run", "deep/orders.yaml", "--key", "monday")

    [run] = cli("runs", "list", "--json").json
    assert run["status"] == "succeeded"


def test_a_dry_run_that_fails_leaves_no_record(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in.csv").unlink()

    outcome = cli("run", "orders.yaml", "--dry-run", "--quiet")

    error, hint = outcome.error
    assert outcome.code == 2
    assert "There is nothing to read at" in error
    assert hint.startswith("Hint: ")
    assert not (tmp_path / ".deltaworks").exists()


def test_a_dry_run_says_that_it_does_not_see_what_another_would_write(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in.csv").unlink()
    reader = TEXT.replace("File", "DeltaLake").replace("format: csv", "format: delta").replace("path: out", "path: new")
    saved(tmp_path, reader.replace("in.csv", "out").replace("pipelineId: orders", "pipelineId: copy"), "copy.yaml")

    both = cli("run", "copy.yaml", "orders.yaml", "--dry-run").err
    alone = cli("run", "orders.yaml", "--dry-run").err

    assert "copy reads what orders would write: it sees what is there now." in both.splitlines()
    assert "it sees what is there now" not in alone


def test_a_dry_run_needs_its_credentials_too(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, TEXT.replace("sinkType", "credentialId: lake-s3\n  sinkType"))

    assert cli("run", "orders.yaml", "--dry-run", "--quiet").code == 3


def test_a_dry_run_hides_secrets_in_its_errors(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTAWORKS_LAKE__PASSWORD", "canary")
    saved(tmp_path, TEXT.replace("sinkType", "credentialId: lake\n  sinkType").replace("in.csv", "canary.csv"))

    outcome = cli("run", "orders.yaml", "--dry-run", "--json")

    assert outcome.code == 2
    assert "There is nothing to read at" in outcome.json[0]["error"]
    assert "canary" not in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--follow"], "--follow is for an incremental pipeline."),
        (["--full-refresh"], "--full-refresh is for an incremental pipeline."),
        (["--from", "1", "--to", "2"], "--from and --to are for an incremental pipeline."),
        (["--from", "1"], "A range needs --from and --to."),
        (["--to", "1"], "A range needs --from and --to."),
        (["--every", "5m"], "--every is for --follow."),
        (["--follow", "--every", "soon"], "'soon' is no duration."),
        (["orders.yaml", "--follow"], "--follow takes one file: it goes on until it is stopped."),
        (["--follow", "--dry-run"], "--dry-run shows what a plain run would read, so --follow has no meaning."),
        (
            ["--full-refresh", "--dry-run"],
            "--dry-run shows what a plain run would read, so --full-refresh has no meaning.",
        ),
        (
            ["--from", "1", "--to", "2", "--dry-run"],
            "--dry-run shows what a plain run would read, so --from has no meaning.",
        ),
        (["--from", "1", "--to", "2", "--follow"], "A range is loaded once, and nothing else."),
        (["--from", "1", "--to", "2", "--full-refresh"], "A range is loaded once, and nothing else."),
    ],
)
def test_what_makes_no_sense_together_is_refused_in_two_lines(cli: Cli, options: list[str], said: str) -> None:
    outcome = cli("run", "orders.yaml", *options, "--quiet")

    assert outcome.code == 2
    assert outcome.error[0] == f"Error: {said}"
    assert outcome.error[1].startswith("Hint: ")
