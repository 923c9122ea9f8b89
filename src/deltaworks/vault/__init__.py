"""Credentials by id, and keeping them out of everything people can read."""

from deltaworks.vault.chain import VaultChain
from deltaworks.vault.credential import Credential, CredentialNotFoundError, CredentialVault
from deltaworks.vault.environment import EnvironmentVault
from deltaworks.vault.memory import MemoryVault
from deltaworks.vault.redaction import Redactor

__all__ = [
    "Credential",
    "CredentialNotFoundError",
    "CredentialVault",
    "EnvironmentVault",
    "MemoryVault",
    "Redactor",
    "VaultChain",
]
