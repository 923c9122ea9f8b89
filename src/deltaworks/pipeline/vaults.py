"""The `vault` part of the project file, and the vault that it means."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, model_validator

from deltaworks.errors import SetupError
from deltaworks.lake.family import OneOf
from deltaworks.lake.model import FileModel, Location, Whole, problem
from deltaworks.lake.storage import local_path
from deltaworks.vault import EnvironmentVault, VaultChain
from deltaworks.vault.sealing import KeyKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from deltaworks.vault import CredentialVault
    from deltaworks.vault.file import FileVault
    from deltaworks.vault.hashicorp import HashicorpVault

PASSPHRASE = "DELTAWORKS_VAULT_PASSPHRASE"  # noqa: S105 - the name of the variable
TOKEN = "VAULT_TOKEN"  # noqa: S105 - the name of the variable


def _local(place: str) -> str:
    if local_path(place) is None:
        raise problem(f"{place} is not on this machine", "Write a path.")
    return place


def _address(text: str) -> str:
    found = urlsplit(text)
    if found.scheme not in ("http", "https") or not found.hostname:
        raise problem("this is not an address", "Write https://vault.example:8200.")
    if found.username or found.password:
        raise problem("an address holds no user or password", f"Leave them out; the token is read from {TOKEN}.")
    return text


LocalPath = Annotated[Location, AfterValidator(_local)]
Address = Annotated[str, AfterValidator(_address)]


class VaultConfig(FileModel):
    """Where credentials are kept."""

    type: str
    """Where credentials are kept."""


class EnvironmentVaultConfig(VaultConfig):
    """Variables of the environment, such as `DELTAWORKS_PG__PASSWORD`, and nothing else."""

    type: Literal["environment"]
    """Where credentials are kept."""


class FileVaultConfig(VaultConfig):
    """A sealed file, made and filled with `deltaworks vault`."""

    type: Literal["file"]
    """Where credentials are kept."""
    path: LocalPath | None = None
    """The file; without it, `deltaworks/vault.sealed` in `$XDG_CONFIG_HOME` or `~/.config`."""
    key: KeyKind | None = None
    """What opens it: the `keyring` of the operating system, a key `file`, or a `passphrase`."""
    key_file: LocalPath | None = None
    """The key file; without it, beside the vault, with `.key` after its name."""

    @model_validator(mode="after")
    def _key_file_is_used(self) -> Self:
        if self.key_file is not None and self.key not in (None, "file"):
            raise problem(f"a keyFile does nothing with key: {self.key}", "Leave one of them out, or write key: file.")
        return self


class HashicorpVaultConfig(VaultConfig):
    """HashiCorp Vault, or what speaks its language; the token is read from `VAULT_TOKEN` in the environment."""

    type: Literal["hashicorp"]
    """Where credentials are kept."""
    address: Address
    """The server, as `https://vault.example:8200`."""
    mount: str = "secret"
    """Where its key-value engine is mounted."""
    path: str = ""
    """The folder in which each credential is a secret."""
    namespace: str | None = None
    """The namespace, where the server has several."""
    kv_version: Annotated[Whole, Field(ge=1, le=2)] = 2
    """The version of the key-value engine, 2 or 1."""


class AwsVaultConfig(VaultConfig):
    """AWS Secrets Manager, asked as whoever AWS's own tools would be on this machine."""

    type: Literal["aws"]
    """Where credentials are kept."""
    region: str | None = None
    """The region; without it, the one that AWS's own tools use."""
    prefix: str = ""
    """What the names of the secrets begin with, before the name of the credential."""
    endpoint: Address | None = None
    """Another address for the service, as inside of a private network."""


VAULTS = OneOf(
    "type",
    {
        "environment": f"{__name__}.EnvironmentVaultConfig",
        "file": f"{__name__}.FileVaultConfig",
        "hashicorp": f"{__name__}.HashicorpVaultConfig",
        "aws": f"{__name__}.AwsVaultConfig",
    },
)

AnyVault = Annotated[VaultConfig, VAULTS]


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultEdge:
    """What the caller, not a file, knows about vaults."""

    variables: Mapping[str, str] = field(repr=False)
    typed: Callable[[str], str] | None = None  # asks a person, who types unseen; none where nobody can


def vault_for(config: AnyVault | None, edge: VaultEdge) -> CredentialVault:
    """The vault that a project means; what the environment has wins over what it holds."""
    environment = EnvironmentVault(edge.variables)
    match config:
        case EnvironmentVaultConfig():
            return environment
        case HashicorpVaultConfig():
            return VaultChain(environment, _hashicorp(config, edge))
        case AwsVaultConfig():
            from deltaworks.vault.aws import SecretsManagerVault

            found = SecretsManagerVault(region=config.region, prefix=config.prefix, endpoint=config.endpoint)
            return VaultChain(environment, found)
    sealed = config if isinstance(config, FileVaultConfig) else FileVaultConfig(type="file")
    return VaultChain(environment, file_vault(sealed, edge))


def file_vault(config: FileVaultConfig, edge: VaultEdge, new_passphrase: Callable[[], str] | None = None) -> FileVault:
    """The sealed file that a project means; it is not opened yet."""
    from deltaworks.vault.file import FileVault
    from deltaworks.vault.keys import Keys

    path = _path(config.path) or _default_place(edge.variables)
    asked = partial(_passphrase, edge, path)
    keys = Keys(
        file=_path(config.key_file) or path.with_name(f"{path.name}.key"),
        passphrase=asked,
        new_passphrase=new_passphrase or asked,
    )
    return FileVault(path, keys, kind=config.key)


def _path(place: str | None) -> Path | None:
    return None if place is None else local_path(place)


def _default_place(variables: Mapping[str, str]) -> Path:
    base = variables.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "deltaworks" / "vault.sealed"


def _passphrase(edge: VaultEdge, path: Path) -> str:
    given = edge.variables.get(PASSPHRASE)
    if given:
        return given
    if edge.typed is None:
        raise SetupError(f"{path} opens with a passphrase.", hint=f"Set {PASSPHRASE} in the environment.")
    return edge.typed(f"Passphrase of {path}: ")


def _hashicorp(config: HashicorpVaultConfig, edge: VaultEdge) -> HashicorpVault:
    from deltaworks.vault.hashicorp import HashicorpVault

    return HashicorpVault(
        address=config.address,
        token=SecretStr(edge.variables.get(TOKEN, "").strip()),
        mount=config.mount,
        path=config.path,
        namespace=config.namespace,
        kv_version=1 if config.kv_version == 1 else 2,
    )
