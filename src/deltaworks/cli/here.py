"""The project around a file or the current folder, for commands that start nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from deltaworks.errors import ConfigError
from deltaworks.pipeline.document import read_document
from deltaworks.pipeline.project import Project, check_pipeline, find_project

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.runs.folder import RunFolder
    from deltaworks.vault import CredentialVault
    from deltaworks.vault.storage import Access


def project_here(environment: str | None) -> Project:
    """The project of the current folder."""
    return find_project(Path.cwd(), environment, os.environ)


def project_of(file: Path, environment: str | None) -> Project:
    """The project of a file."""
    return find_project(file.absolute().parent, environment, os.environ, here=Path.cwd())


def runs_here(runs: str | None) -> RunFolder:
    """The run records of the project here, or those in another place."""
    from deltaworks.pipeline.records import RunsPlace, run_folder

    place = project_here(None).runs
    if runs is not None and runs.rstrip("/") != place.path:
        place = RunsPlace(path=runs)
    return run_folder(place, vault_here(), os.environ)


def vault_here() -> CredentialVault:
    """The vault of the project here."""
    from deltaworks.cli.ask import typed
    from deltaworks.pipeline.vaults import VaultEdge, vault_for

    return vault_for(project_here(None).vault, VaultEdge(variables=os.environ, typed=typed))


def access_here(uri: str, credential_id: str | None) -> Access:
    """The way to the storage of a URI, with a credential of the project here or by the environment."""
    from deltaworks.pipeline.around import Around

    return Around(session=_no_session, vault=vault_here(), environment=os.environ).access_to(uri, credential_id, {})


def _no_session() -> NoReturn:
    raise AssertionError("commands that only look need no Spark")


def require_one_project(files: Sequence[Path], environment: str | None) -> None:
    """Refuse files of several projects: they would have to share one runs folder and one Spark."""
    folders = sorted({str(project_of(file, environment).folder) for file in files})
    if len(folders) > 1:
        raise ConfigError(
            f"These files belong to several projects: {', '.join(folders)}.",
            hint="Run each project's files by themselves.",
        )


def read_pipeline(file: Path, environment: str | None, settings: Mapping[str, Any]) -> PipelineConfig:
    """Read and check a pipeline file as its project has it."""
    return check_pipeline(read_document(file), project_of(file, environment), os.environ, settings)
