from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.pipeline.files import TEXT, saved

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.outcome import Cli


def test_a_valid_file_is_called_valid(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, TEXT)

    outcome = cli("validate", "orders.yaml")

    assert (outcome.code, outcome.out, outcome.err) == (0, "orders.yaml: valid\n", "")


def test_several_files_are_checked_at_once(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, TEXT, "a.yaml")
    saved(tmp_path, TEXT, "b.yaml")

    assert cli("validate", "a.yaml", "b.yaml").out == "a.yaml, b.yaml: valid\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "bad.yaml is empty."),
        ("a: [1\nb: 2\n", "bad.yaml:2:2: this is not YAML: expected ',' or ']', but got ':'."),
        ("a: 1\na: 2\n", "bad.yaml:2:1: the key 'a' stands here twice."),
        (TEXT.replace("File", "Fil"), "bad.yaml:3: extract: sourceType 'Fil' is not known."),
        (TEXT.replace("Append", "Upsert"), "bad.yaml:7: load: Upsert needs mergeKeys."),
        (
            TEXT.replace("in.csv", "in.csv\n    schema: id BIGNT"),
            "bad.yaml:7: extract.connectionParams.schema: 'BIGNT' is no type.",
        ),
        (
            TEXT.replace("in.csv", "'in[.csv'"),
            "bad.yaml:6: extract.connectionParams.path: 'in[.csv' is no pattern: `[` has no `]`.",
        ),
        (
            TEXT.replace("DeltaLake", "File").replace("out", "out\n    format: json\n    compression: gzp"),
            "bad.yaml:12: load.connectionParams.compression: json files cannot be compressed with 'gzp'.",
        ),
        (TEXT.replace("in.csv", "${NOBODY_SETS_THIS}"), "bad.yaml:6: the variable NOBODY_SETS_THIS is not set."),
    ],
)
def test_a_bad_file_is_two_lines_and_exit_code_2(cli: Cli, tmp_path: Path, text: str, message: str) -> None:
    saved(tmp_path, text, "bad.yaml")

    outcome = cli("validate", "bad.yaml")

    error, hint = outcome.out.splitlines()
    assert outcome.code == 2
    assert error == f"Error: {message}"
    assert hint.startswith("Hint: ")


def test_a_schema_beside_the_pipeline_file_is_checked_with_it(cli: Cli, tmp_path: Path) -> None:
    text = TEXT.replace("in.csv", "in.csv\n    schemaName: columns/orders.ddl")
    (tmp_path / "pipelines/columns").mkdir(parents=True)
    saved(tmp_path / "pipelines", text)

    saved(tmp_path / "pipelines/columns", "id BIGINT", "orders.ddl")
    assert cli("validate", "pipelines/orders.yaml").code == 0
    saved(tmp_path / "pipelines/columns", "id BIGNT", "orders.ddl")
    outcome = cli("validate", "pipelines/orders.yaml")

    assert outcome.code == 2
    assert outcome.out.startswith("Error: orders.yaml:7: extract.connectionParams.schemaName: The schema file ")
    assert "'BIGNT' is no type" in outcome.out


def test_every_problem_of_every_file_is_told(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, TEXT.replace("csv", "xml").replace("Append", "Add"), "a.yaml")
    saved(tmp_path, TEXT, "b.yaml")
    saved(tmp_path, "", "c.yaml")

    outcome = cli("validate", "a.yaml", "b.yaml", "c.yaml", "d.yaml")

    problems = [line for line in outcome.out.splitlines() if line.startswith("Error: ")]
    assert outcome.code == 2
    assert [line.split()[1].partition(":")[0] for line in problems] == ["a.yaml", "a.yaml", "c.yaml", "d.yaml"]


def test_problems_can_be_read_by_machines(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, TEXT.replace("Append", "Add"))

    outcome = cli("validate", "orders.yaml", "--json")

    assert outcome.code == 2
    assert outcome.json == {
        "valid": False,
        "problems": [
            {
                "file": "orders.yaml",
                "problem": "orders.yaml:11: writeMode: 'Add' is not known.",
                "hint": "Write 'Append', 'Overwrite' or 'Upsert'.",
            }
        ],
    }


def test_a_valid_file_can_be_read_by_machines(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, TEXT)

    assert cli("validate", "orders.yaml", "--json").json == {"valid": True, "problems": []}


def test_values_may_be_set(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, TEXT)

    assert cli("validate", "orders.yaml", "--set", "writeMode=Overwrite").code == 0
    assert "'Add' is not known" in cli("validate", "orders.yaml", "--set", "writeMode=Add").out


@pytest.mark.parametrize("setting", ["writeMode", "a..b=1", "writeMode.x=1"])
def test_a_setting_that_is_none_is_refused(cli: Cli, tmp_path: Path, setting: str) -> None:
    saved(tmp_path, TEXT)

    outcome = cli("validate", "orders.yaml", "--set", setting)

    assert outcome.code == 2
    assert len(outcome.out.splitlines()) == 2


def test_an_environment_may_be_chosen(cli: Cli, tmp_path: Path) -> None:
    saved(tmp_path, TEXT.replace("in.csv", "${PLACE_OF_TODAY}"))
    saved(tmp_path, "environments: {prod: {variables: {PLACE_OF_TODAY: here}}}\n", "deltaworks.yaml")

    assert cli("validate", "orders.yaml", "--env", "prod").code == 0
    assert "PLACE_OF_TODAY is not set" in cli("validate", "orders.yaml").out
    assert "no environment 'prd'" in cli("validate", "orders.yaml", "--env", "prd").out


def test_a_problem_stays_one_line_on_a_narrow_terminal(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    saved(tmp_path, TEXT.replace("Append", "Upsert"))

    assert len(cli("validate", "orders.yaml").out.splitlines()) == 2


@pytest.mark.parametrize("key", ["[/red]", "[bold]", "[/]", "{x}"])
def test_a_problem_says_what_was_written_as_it_was_written(cli: Cli, tmp_path: Path, key: str) -> None:
    saved(tmp_path, f"{TEXT}'{key}': 1\n")

    assert f"Unknown key '{key}'." in cli("validate", "orders.yaml").out
