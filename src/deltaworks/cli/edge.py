"""The edge of the program: the only place of the command line that reads the environment."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from deltaworks.api import spark_edge
from deltaworks.cli.progress import Progress
from deltaworks.errors import ConfigError
from deltaworks.pipeline.project import Project, find_project
from deltaworks.pipeline.workspace import Workspace
from deltaworks.vault.environment import EnvironmentVault

if TYPE_CHECKING:
    from collections.abc import Sequence


def project_here(environment: str | None) -> Project:
    """The project of the current folder."""
    return find_project(Path.cwd(), environment, os.environ)


def workspace(
    file: Path | None = None,
    *,
    master: str | None = None,
    conf: Sequence[str] = (),
    environment: str | None = None,
    progress: Progress | None = None,
) -> Workspace:
    """A workspace for the project of a file, or of the current folder."""
    variables = dict(os.environ)
    edge = spark_edge(variables)
    start = file.absolute().parent if file else Path.cwd()
    shown = progress or Progress(quiet=True)
    return Workspace(
        project=find_project(start, environment, variables),
        variables=variables,
        vault=EnvironmentVault(variables),
        spark=replace(edge, master=master or edge.master, conf=_pairs(conf), on_jar=shown.jar, on_tasks=shown.tasks),
        observer=shown.stage,
    )


def _pairs(settings: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for setting in settings:
        name, found, value = setting.partition("=")
        if not found:
            raise ConfigError(f"--conf {setting!r} has no value.", hint="Write --conf spark.some.key=value.")
        pairs[name.strip()] = value
    return pairs
