"""Where a project keeps its run records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from deltaworks.lake.folder import folder_at
from deltaworks.lake.model import FileModel, Location, NoSecrets
from deltaworks.runs.folder import RunFolder
from deltaworks.vault.storage import Sources, access_to

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaworks.vault.credential import CredentialVault


class RunsPlace(FileModel):
    """A folder for run records, and how it is reached."""

    path: Location
    """The folder: a path, or a URI such as `s3a://bucket/runs`."""
    credential_id: str | None = None
    """The credential for that storage, by its name in the vault."""
    options: Annotated[dict[str, str], NoSecrets] = Field(default_factory=dict)
    """Options of the storage, as `fs.s3a.endpoint`."""


def _place(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


_KEYS = {"path": {"type": "string"}, "credentialId": {"type": "string"}, "options": {"type": "object"}}
_PLACE = {"type": "object", "properties": _KEYS, "required": ["path"], "additionalProperties": False}

Runs = Annotated[RunsPlace, BeforeValidator(_place), WithJsonSchema({"anyOf": [{"type": "string"}, _PLACE]})]
"""A path or URI; or `path`, `credentialId` and `options`."""


def run_folder(place: RunsPlace, vault: CredentialVault, environment: Mapping[str, str]) -> RunFolder:
    """The run records there."""
    credential = vault.get(place.credential_id) if place.credential_id else None
    access = access_to(place.path, Sources(credential=credential, options=place.options, environment=environment))
    return RunFolder(folder_at(place.path, access))
