"""Several vaults, asked one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.vault.credential import Credential, CredentialNotFoundError

if TYPE_CHECKING:
    from deltaworks.vault.credential import CredentialVault


class VaultChain:
    """The first vault that has a credential gives all of it; those behind it are not even opened."""

    def __init__(self, *vaults: CredentialVault) -> None:
        self._vaults = vaults

    def get(self, credential_id: str) -> Credential:
        """Return the credential of the first vault that has it."""
        missed: list[CredentialNotFoundError] = []
        for vault in self._vaults:
            try:
                return vault.get(credential_id)
            except CredentialNotFoundError as error:
                missed.append(error)
        places = tuple(place for error in missed for place in error.looked_in)
        raise CredentialNotFoundError(credential_id, looked_in=places, hint=" ".join(error.hint for error in missed))

    def __repr__(self) -> str:
        return f"VaultChain({', '.join(map(repr, self._vaults))})"
