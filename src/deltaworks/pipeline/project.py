"""The project file `deltaworks.yaml`: what several pipelines share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import Field

from deltaworks.errors import ConfigError, did_you_mean
from deltaworks.lake.model import FileModel
from deltaworks.pipeline.checking import checked
from deltaworks.pipeline.document import Document, read_document
from deltaworks.pipeline.overrides import changed
from deltaworks.pipeline.records import Runs, RunsPlace
from deltaworks.pipeline.spark import SparkConfig
from deltaworks.pipeline.variables import filled
from deltaworks.pipeline.vaults import AnyVault

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from deltaworks.pipeline.config import PipelineConfig

NAME = "deltaworks.yaml"


class Environment(FileModel):
    """What is different in one environment, such as `prod`."""

    runs: Runs | None = None
    """The folder of the run records, local or in a bucket."""
    spark: SparkConfig = Field(default_factory=SparkConfig)
    """Where Spark runs, and how."""
    vault: AnyVault | None = None
    """Where credentials are kept; without it, in the environment and in the user's own vault file."""
    variables: dict[str, str] = Field(default_factory=dict)
    """Values for `${NAME}`; the process environment wins."""


class ProjectConfig(Environment):
    """What several pipelines share."""

    environments: dict[str, Environment] = Field(default_factory=dict)
    """Other values for the same keys, chosen with `--env`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The settings in force: the project file's, with one environment's on top."""

    folder: Path
    runs: RunsPlace
    spark: tuple[SparkConfig, ...] = ()  # the more particular first
    vault: AnyVault | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


def find_project(
    start: Path, environment: str | None, variables: Mapping[str, str], *, here: Path | None = None
) -> Project:
    """Look for the project file in `start` and upwards; without one, records go to `.deltaworks/runs` in `here`."""
    start = start.absolute()
    found = next((folder / NAME for folder in (start, *start.parents) if (folder / NAME).is_file()), None)
    if found is None:
        if environment is not None:
            raise ConfigError(f"There is no {NAME} to find --env {environment} in.", hint=f"Make one in {start}.")
        folder = here or start
        return Project(folder=folder, runs=_own_runs(folder))
    return _project(found, environment, variables)


def check_pipeline(
    document: Document, project: Project, variables: Mapping[str, str], settings: Mapping[str, Any] | None = None
) -> PipelineConfig:
    """Check a pipeline file as its project has it; the process's own variables win over the project's."""
    from deltaworks.pipeline.config import config_of  # every step there is; a project file needs none of them

    return config_of(changed(document, settings or {}), {**project.variables, **variables})


def _project(path: Path, environment: str | None, variables: Mapping[str, str]) -> Project:
    config = checked(ProjectConfig, filled(read_document(path), variables))
    chosen = _chosen(config, environment)
    return Project(
        folder=path.parent,
        runs=chosen.runs or config.runs or _own_runs(path.parent),
        spark=(chosen.spark, config.spark),
        vault=chosen.vault or config.vault,
        variables={**config.variables, **chosen.variables},
    )


def _own_runs(folder: Path) -> RunsPlace:
    return RunsPlace(path=str(folder / ".deltaworks" / "runs"))


def _chosen(config: ProjectConfig, environment: str | None) -> Environment:
    if environment is None:
        return Environment()
    if environment not in config.environments:
        raise ConfigError(
            f"{NAME} has no environment {environment!r}.", hint=did_you_mean(environment, config.environments)
        )
    return config.environments[environment]
