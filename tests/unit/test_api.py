from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.unit.pipeline.files import PIPELINE, TEXT, pipeline, saved
from tests.unit.tables import append, land, restore

import deltaworks
from deltaworks.api import cache_folder, spark_edge
from deltaworks.errors import ConfigError, RefusedError
from deltaworks.vault.file import FileVault
from deltaworks.vault.keys import Keys

NO_ROWS: Any = None  # what is refused is refused before anybody looks at the rows
NO_SPARK: Any = None


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with something to read in it."""
    saved(tmp_path, "id\n1\n", "in.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# validate


def test_a_valid_file_is_returned_checked(here: Path) -> None:
    assert deltaworks.validate(saved(here, TEXT)).pipeline_id == "orders"
    assert deltaworks.validate("orders.yaml").load.place == str(here / "out")


def test_a_file_that_is_not_valid_is_refused(here: Path) -> None:
    with pytest.raises(ConfigError, match=r"orders\.yaml:11: writeMode: 'Add' is not known"):
        deltaworks.validate(saved(here, TEXT.replace("Append", "Add")))


def test_variables_are_given_or_taken_from_the_environment(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(here, TEXT.replace("path: out", "path: /${LAKE}"))
    monkeypatch.setenv("LAKE", "environment")

    assert deltaworks.validate(path).load.place == "/environment"
    assert deltaworks.validate(path, variables={"LAKE": "given"}).load.place == "/given"
    with pytest.raises(ConfigError, match="the variable LAKE is not set"):
        deltaworks.validate(path, variables={})


def test_the_project_of_the_file_counts(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(here, TEXT.replace("path: out", "path: /${LAKE}"))
    saved(here, "variables: {LAKE: project}\n", "deltaworks.yaml")
    monkeypatch.chdir("/")

    assert deltaworks.validate(path).load.place == "/project"


# plan


def test_a_plan_of_what_is_not_there_is_refused_before_spark_starts(here: Path) -> None:
    with pytest.raises(ConfigError, match="nothing to read"):
        deltaworks.plan(saved(here, TEXT.replace("in.csv", "nothing.csv")))

    assert not (here / ".deltaworks").exists()


# run


def test_a_landed_key_is_answered_without_spark(here: Path) -> None:
    land(here / "out", "monday")

    result = deltaworks.run(saved(here, TEXT), key="monday")

    assert result.success
    assert (result.load.already_landed, result.load.version) == (True, 0)
    assert Path(result.record).is_relative_to(here / ".deltaworks" / "runs")


def test_a_pipeline_may_be_a_mapping(here: Path) -> None:
    land(here / "out", "monday")

    assert deltaworks.run(PIPELINE, key="monday").load.already_landed


def test_values_may_be_set(here: Path) -> None:
    land(here / "elsewhere", "monday")

    result = deltaworks.run(PIPELINE, key="monday", set={"load.connectionParams.path": "elsewhere"})

    assert result.load.already_landed


def test_a_failure_is_raised_with_its_record(here: Path) -> None:
    with pytest.raises(ConfigError, match="nothing to read") as caught:
        deltaworks.run(pipeline(extract__connectionParams__path="nothing.csv"))

    assert caught.value.record is not None
    assert (Path(caught.value.record) / "manifest.json").is_file()


def test_a_failure_may_be_returned_instead(here: Path) -> None:
    result = deltaworks.run(pipeline(extract__connectionParams__path="nothing.csv"), check=False)

    assert not result.success
    assert result.load.error is not None
    assert "nothing to read" in result.load.error
    assert (Path(result.record) / "manifest.json").is_file()
    assert result.run_id == Path(result.record).name


def test_what_is_no_pipeline_is_raised_even_so() -> None:
    with pytest.raises(ConfigError, match="writeMode"):
        deltaworks.run(pipeline(writeMode="Add"), check=False)


def test_a_key_taken_back_is_refused(here: Path) -> None:
    append(here / "out")
    land(here / "out", "monday")
    restore(here / "out", 0)

    with pytest.raises(RefusedError, match="RESTORE"):
        deltaworks.run(PIPELINE, key="monday")


def test_credentials_come_from_the_projects_vault_unless_another_is_given(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(here / "config"))
    land(here / "out", "monday")
    path = saved(here, TEXT.replace("sourceType: File", "sourceType: File\n  credentialId: pg"))
    given = deltaworks.MemoryVault({"pg": {"password": "canary"}})

    with pytest.raises(
        deltaworks.DeltaworksError, match=r"in the environment or in .*/config/deltaworks/vault\.sealed"
    ):
        deltaworks.run(path, key="monday")
    saved(here, "vault: {type: file, path: v/vault.sealed}\n", "deltaworks.yaml")
    vault = FileVault(here / "v/vault.sealed", Keys(file=here / "v/vault.sealed.key"))
    vault.create("file")
    with pytest.raises(deltaworks.DeltaworksError, match=r"in the environment or in .*/v/vault\.sealed"):
        deltaworks.run(path, key="monday")
    assert deltaworks.run(path, key="monday", vault=given).success
    vault.put("pg", {"password": SecretStr("canary")})
    assert deltaworks.run(path, key="monday").success


# extract and load


def test_a_source_that_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigError, match="extract: sourceType 'Files' is not known"):
        deltaworks.extract({"sourceType": "Files"}, spark=NO_SPARK)


def test_a_source_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match="There is no Delta table"):
        deltaworks.extract({"sourceType": "DeltaLake", "path": "nothing"}, spark=NO_SPARK)


@pytest.mark.parametrize(
    ("mode", "changes", "error"),
    [
        ("Add", {}, "writeMode: 'Add' is not known."),
        (deltaworks.WriteMode.UPSERT, {}, "load: Upsert needs mergeKeys."),
        ("Append", {"key": "monday"}, "A key needs a pipeline_id."),
    ],
)
def test_a_load_that_cannot_be_is_returned_as_a_failure(mode: Any, changes: dict[str, Any], error: str) -> None:
    result = deltaworks.load(NO_ROWS, PIPELINE["load"], mode, **changes)

    assert (result.success, result.error) == (False, error)
    assert result.hint
    assert result.seconds >= 0


# The edge


def test_jars_are_kept_in_the_users_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")

    assert cache_folder({}) == Path("/somewhere/.cache/deltaworks")
    assert cache_folder({"XDG_CACHE_HOME": ""}) == Path("/somewhere/.cache/deltaworks")
    assert cache_folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/deltaworks")


def test_the_environment_says_how_spark_is_started() -> None:
    variables = {"DELTAWORKS_MASTER": "yarn", "JAVA_HOME": "/j", "DELTAWORKS_IVY_SETTINGS": "/i.xml"}

    edge = spark_edge(variables)

    assert (edge.master, edge.java_home, edge.ivy_settings) == ("yarn", "/j", Path("/i.xml"))
    assert (spark_edge({}).master, spark_edge({}).ivy_settings) == (None, None)
