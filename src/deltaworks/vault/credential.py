"""A credential, and what can be asked for one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from deltaworks.errors import ConfigError, SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import SecretStr

# Where something is and who asks, not what proves it. Any other name is taken for a secret.
PLAIN_NAMES = frozenset(
    {"bucket", "database", "endpoint", "host", "port", "region", "type", "user", "username"}
    | {"bootstrap_servers", "bootstrap.servers", "mechanism", "sasl.mechanism"}
    | {"security_protocol", "security.protocol", "ssl_mode", "ssl_root_cert"}
)
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,127}(/[A-Za-z0-9][\w.-]{0,127}){0,7}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Credential:
    """Named values; printing one shows the names, never the values."""

    credential_id: str
    values: Mapping[str, SecretStr]

    def secrets(self) -> frozenset[str]:
        """Every value that must never be shown."""
        return frozenset(
            value.get_secret_value() for name, value in self.values.items() if name.lower() not in PLAIN_NAMES
        )


class CredentialVault(Protocol):
    """Where credentials are looked up by id."""

    def get(self, credential_id: str) -> Credential:
        """Return the credential, or raise `CredentialNotFoundError`."""


class CredentialNotFoundError(SetupError):
    """A pipeline named a credential that is in none of the places that were looked in."""

    def __init__(self, credential_id: str, *, looked_in: tuple[str, ...] = (), hint: str) -> None:
        places = "".join(f" or in {place}" for place in looked_in).removeprefix(" or")
        super().__init__(f"No credential is named {credential_id!r}{places}.", hint=hint)
        self.credential_id = credential_id
        self.looked_in = looked_in


def require_name(text: str) -> None:
    """Refuse what cannot name a credential or a value; it is not repeated, since it may be a secret gone astray."""
    if not _NAME.fullmatch(text):
        raise ConfigError(
            "This cannot be the name of a credential or of a value.",
            hint="Use letters, digits, '.', '_' and '-', such as pg-main or access_key_id.",
        )
