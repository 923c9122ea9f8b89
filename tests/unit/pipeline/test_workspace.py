from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.pipeline.files import TEXT, config, pipeline, saved
from tests.unit.tables import land

from deltaworks.errors import ConfigError
from deltaworks.pipeline.asked import Asked
from deltaworks.pipeline.project import Project
from deltaworks.pipeline.records import RunsPlace
from deltaworks.pipeline.spark import SparkConfig
from deltaworks.pipeline.workspace import SparkEdge, Workspace
from deltaworks.vault import CredentialNotFoundError, MemoryVault

if TYPE_CHECKING:
    from typing import Any


def level(**values: Any) -> SparkConfig:
    return SparkConfig.model_validate(values)


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    return Workspace(
        project=Project(
            folder=tmp_path, runs=RunsPlace(path=str(tmp_path / "runs")), variables={"LAKE": "project", "DAY": "monday"}
        ),
        variables={"LAKE": "process"},
        vault=MemoryVault({"pg": {"password": "canary"}}),
        spark=SparkEdge(cache=tmp_path / "cache"),
    )


# Reading


def test_variables_of_the_process_win_over_those_of_the_project(space: Workspace, tmp_path: Path) -> None:
    path = saved(tmp_path, TEXT.replace("path: out", "path: /${LAKE}/${DAY}"))

    assert space.read(path).load.place == "/process/monday"


def test_settings_are_put_in_before_variables_are_filled(space: Workspace, tmp_path: Path) -> None:
    path = saved(tmp_path, TEXT)

    assert space.read(path, {"load.connectionParams.path": "/${DAY}"}).load.place == "/monday"


def test_settings_are_checked_like_the_file(space: Workspace, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Unknown key 'mergKeys'"):
        space.read(saved(tmp_path, TEXT), {"load.connectionParams.mergKeys": ["id"]})


# Spark


def test_spark_is_local_where_nobody_says_otherwise(space: Workspace) -> None:
    settings = space.settings(config())

    assert (settings.master, settings.jars, settings.conf) == ("local[*]", "managed", {})


def test_the_master_is_the_flags_then_the_files_then_the_projects(space: Workspace) -> None:
    project = replace(space.project, spark=(level(), level(master="project")))
    plain, own = config(), config(pipeline(spark={"master": "file"}))
    with_project = replace(space, project=project)
    with_flag = replace(with_project, spark=replace(space.spark, master="flag"))

    assert with_project.settings(plain).master == "project"
    assert with_project.settings(own).master == "file"
    assert with_flag.settings(own).master == "flag"


def test_each_conf_comes_from_whoever_is_nearest(space: Workspace) -> None:
    project = replace(
        space.project, spark=(level(conf={"b": "environment"}), level(conf={"a": "project", "b": "x", "c": "x"}))
    )
    near = replace(space, project=project, spark=replace(space.spark, conf={"d": "flag"}))

    settings = near.settings(config(pipeline(spark={"conf": {"c": "file", "d": "x"}})))

    assert settings.conf == {"a": "project", "b": "environment", "c": "file", "d": "flag"}


def test_conf_is_spelled_as_spark_spells_it(space: Workspace) -> None:
    settings = space.settings(config(pipeline(spark={"conf": {"a": True, "b": 4, "c": 0.5, "d": "x"}})))

    assert settings.conf == {"a": "true", "b": "4", "c": "0.5", "d": "x"}


def test_jars_may_be_the_platforms(space: Workspace) -> None:
    project = replace(space.project, spark=(level(), level(jars="provided")))

    assert replace(space, project=project).settings(config()).jars == "provided"


def test_a_session_has_the_jars_that_the_ends_of_the_pipeline_need(space: Workspace) -> None:
    avro = {"sourceType": "File", "connectionParams": {"format": "avro", "path": "in"}}
    sink = {"sinkType": "File", "connectionParams": {"format": "avro", "path": "out"}}

    for found in (config(pipeline(extract=avro)), config(pipeline(inputs={"x": avro})), config(pipeline(load=sink))):
        assert found.jar_groups() == {"avro"}
        assert space.settings(found).groups == {"delta", "avro"}
    assert config().jar_groups() == frozenset()
    assert space.settings(config()).groups == {"delta"}


# Running


def test_a_landed_key_is_answered_from_the_projects_folder(space: Workspace, tmp_path: Path) -> None:
    land(tmp_path / "out", "monday")
    found = config(pipeline(load__connectionParams__path=str(tmp_path / "out")))

    result = space.run(found, Asked(key="monday"), file="orders.yaml")

    assert result.load.already_landed
    assert Path(result.record).is_relative_to(tmp_path / "runs")


def test_versions_are_those_of_what_took_part(space: Workspace) -> None:
    assert set(space.versions()) == {"deltaworks", "python"}


def test_what_the_credentials_of_a_pipeline_hold_is_hidden(space: Workspace) -> None:
    redactor = space.redactor(config(pipeline(extract__credentialId="pg")))

    assert redactor.text("it is canary") == "it is •••"


def test_a_credential_the_vault_lacks_is_named(space: Workspace) -> None:
    with pytest.raises(CredentialNotFoundError, match="'s3'"):
        space.redactor(config(pipeline(load__credentialId="s3")))
