from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.pipeline.files import saved

from deltaworks.errors import ConfigError
from deltaworks.pipeline.project import Project, find_project

PROJECT = """\
runs: records
spark: {master: "local[2]", conf: {a: 1}}
variables: {LAKE: s3a://dev, DAY: "${DAY:monday}"}
environments:
  prod:
    runs: /var/records
    spark: {master: yarn}
    variables: {LAKE: s3a://prod}
  test: {}
"""


def project(folder: Path, environment: str | None = None, text: str = PROJECT, **variables: str) -> Project:
    saved(folder, text, "deltaworks.yaml")
    return find_project(folder, environment, variables)


def test_without_a_file_records_are_kept_here(tmp_path: Path) -> None:
    found = find_project(tmp_path, None, {})

    assert (found.folder, found.runs.path) == (tmp_path, str(tmp_path / ".deltaworks" / "runs"))
    assert (found.spark, found.variables) == ((), {})


def test_the_file_is_found_upwards(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    saved(tmp_path, PROJECT, "deltaworks.yaml")

    found = find_project(tmp_path / "a" / "b", None, {})

    assert (found.folder, found.runs.path) == (tmp_path, str(tmp_path / "records"))


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    saved(tmp_path, PROJECT, "deltaworks.yaml")
    saved(tmp_path / "a", "runs: nearer\n", "deltaworks.yaml")

    assert find_project(tmp_path / "a", None, {}).runs.path == str(tmp_path / "a" / "nearer")


def test_a_relative_start_is_a_place_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert find_project(Path(), None, {}).folder == tmp_path


def test_a_file_that_says_nothing_about_records_keeps_them_beside_it(tmp_path: Path) -> None:
    assert project(tmp_path, text="variables: {A: b}\n").runs.path == str(tmp_path / ".deltaworks" / "runs")


def test_values_are_those_of_the_file(tmp_path: Path) -> None:
    found = project(tmp_path)

    assert found.variables == {"LAKE": "s3a://dev", "DAY": "monday"}
    assert [level.master for level in found.spark] == [None, "local[2]"]


def test_the_environment_of_the_process_fills_the_file(tmp_path: Path) -> None:
    assert project(tmp_path, DAY="friday").variables["DAY"] == "friday"


def test_a_chosen_environment_comes_on_top(tmp_path: Path) -> None:
    found = project(tmp_path, "prod")

    assert found.runs.path == "/var/records"
    assert found.variables == {"LAKE": "s3a://prod", "DAY": "monday"}
    assert [level.master for level in found.spark] == ["yarn", "local[2]"]


def test_an_environment_that_says_nothing_changes_nothing(tmp_path: Path) -> None:
    assert project(tmp_path, "test").runs.path == str(tmp_path / "records")


def test_an_unknown_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no environment 'prd'") as caught:
        project(tmp_path, "prd")

    assert caught.value.hint == "Did you mean 'prod'?"


def test_an_environment_without_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"There is no deltaworks\.yaml to find --env prod in"):
        find_project(tmp_path, "prod", {})


def test_an_unknown_key_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        project(tmp_path, text="runs: r\nenvironments:\n  prod: {variable: {}}\n")

    assert str(caught.value) == "deltaworks.yaml:3: Unknown key 'variable' in environments.prod."


@pytest.mark.parametrize("place", ["s3://lake/runs", "s3a://lake/runs", "{path: s3://lake/runs, credentialId: lake}"])
def test_run_records_may_be_kept_in_a_bucket(tmp_path: Path, place: str) -> None:
    assert project(tmp_path, text=f"runs: {place}\n").runs.path == "s3a://lake/runs"


def test_records_may_be_named_by_a_uri(tmp_path: Path) -> None:
    assert project(tmp_path, text="runs: file:///var/records\n").runs.path == "file:///var/records"
