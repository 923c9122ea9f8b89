"""Credentials from environment variables."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from pydantic import SecretStr

from deltaworks.vault.credential import Credential, CredentialNotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping


def process_variables() -> Mapping[str, str]:
    """The variables of this process, as they are now."""
    return dict(os.environ)


class EnvironmentVault:
    """Credentials from variables such as `DELTAWORKS_PG__PASSWORD`."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        self._variables = process_variables() if variables is None else variables

    def get(self, credential_id: str) -> Credential:
        """Return what the variables of this credential hold."""
        prefix = f"DELTAWORKS_{re.sub(r'[^A-Z0-9]', '_', credential_id.upper())}__"
        found = {
            name.removeprefix(prefix).lower(): SecretStr(value)
            for name, value in self._variables.items()
            if name.startswith(prefix)
        }
        if not found:
            hint = f"Set {prefix}PASSWORD (and the like) in the environment."
            raise CredentialNotFoundError(credential_id, looked_in=("the environment",), hint=hint)
        return Credential(credential_id, found)

    def __repr__(self) -> str:
        return "EnvironmentVault()"
