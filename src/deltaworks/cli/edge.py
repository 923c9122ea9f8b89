"""The edge of the program: what the command line and the environment say, as one workspace."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from deltaworks.api import spark_edge
from deltaworks.cli.ask import typed
from deltaworks.cli.here import project_of
from deltaworks.cli.progress import Progress
from deltaworks.errors import ConfigError
from deltaworks.pipeline.vaults import VaultEdge, vault_for
from deltaworks.pipeline.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def workspace(
    file: Path,
    *,
    master: str | None = None,
    conf: Sequence[str] = (),
    environment: str | None = None,
    progress: Progress | None = None,
) -> Workspace:
    """A workspace for the project of a file."""
    variables = dict(os.environ)
    edge = spark_edge(variables)
    shown = progress or Progress(quiet=True)
    project = project_of(file, environment)

    def asked(question: str) -> str:
        with shown.away():
            return typed(question)

    return Workspace(
        project=project,
        variables=variables,
        environment=variables,
        vault=vault_for(project.vault, VaultEdge(variables=variables, typed=asked)),
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
