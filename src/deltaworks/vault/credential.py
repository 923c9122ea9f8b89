"""A credential, and what can be asked for one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from deltaworks.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import SecretStr


@dataclass(frozen=True, slots=True)
class Credential:
    """Named secret values; printing one shows the names, never the values."""

    credential_id: str
    values: Mapping[str, SecretStr]

    def secrets(self) -> frozenset[str]:
        """Every value that must never be shown."""
        return frozenset(value.get_secret_value() for value in self.values.values())


class CredentialVault(Protocol):
    """Where credentials are looked up by id."""

    def get(self, credential_id: str) -> Credential:
        """Return the credential, or raise `CredentialNotFoundError`."""


class CredentialNotFoundError(SetupError):
    """A pipeline named a credential the vault does not hold."""

    def __init__(self, credential_id: str, *, hint: str) -> None:
        super().__init__(f"No credential is named {credential_id!r}.", hint=hint)
        self.credential_id = credential_id
