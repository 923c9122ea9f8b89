"""Credentials held by the calling program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import SecretStr

from deltaworks.errors import did_you_mean
from deltaworks.vault.credential import Credential, CredentialNotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping


class MemoryVault:
    """Credentials given as a mapping of id to values."""

    def __init__(self, credentials: Mapping[str, Mapping[str, str]]) -> None:
        self._credentials = {
            name: {key: SecretStr(value) for key, value in values.items()} for name, values in credentials.items()
        }

    def get(self, credential_id: str) -> Credential:
        """Return the credential of that id."""
        if credential_id not in self._credentials:
            raise CredentialNotFoundError(credential_id, hint=did_you_mean(credential_id, self._credentials))
        return Credential(credential_id, self._credentials[credential_id])

    def __repr__(self) -> str:
        return f"MemoryVault({', '.join(sorted(self._credentials))})"
