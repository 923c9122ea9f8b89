"""Credentials in HashiCorp Vault, or in what speaks its language, such as OpenBao."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from deltaworks.errors import SetupError
from deltaworks.vault.credential import Credential, CredentialNotFoundError, require_name
from deltaworks.vault.extras import required
from deltaworks.vault.values import values_of

if TYPE_CHECKING:
    from pydantic import SecretStr

PATIENCE = 10  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class HashicorpVault:
    """A secret of a key-value engine for each credential, read with a token when it is asked for."""

    address: str
    token: SecretStr
    mount: str = "secret"
    path: str = ""
    namespace: str | None = None
    kv_version: Literal[1, 2] = 2

    def get(self, credential_id: str) -> Credential:
        """Return what the secret of that name holds."""
        require_name(credential_id)
        secret = f"{self.path}/{credential_id}".strip("/")
        return Credential(credential_id, values_of(self._answer(credential_id, secret), self._place(secret)))

    def _answer(self, credential_id: str, secret: str) -> Any:
        hvac, requests = required("hvac", "hashicorp"), required("requests", "hashicorp")
        if not self.token.get_secret_value():  # without one, hvac would look for others by itself
            raise SetupError(f"There is no token for the vault at {self.address}.", hint="Set VAULT_TOKEN.")
        try:
            return self._read(hvac, secret)
        except hvac.exceptions.InvalidPath:
            failure = self._missing(credential_id, secret)
        except (hvac.exceptions.VaultError, requests.RequestException, ValueError) as said:
            failure = self._explained(type(said).__name__, secret)
        # Out of the handlers: nothing that was sent or answered hangs on to our error.
        raise failure

    def _read(self, hvac: Any, secret: str) -> Any:
        token = self.token.get_secret_value()
        client = hvac.Client(url=self.address, token=token, namespace=self.namespace, timeout=PATIENCE)
        if self.kv_version == 1:
            return _inner(client.secrets.kv.v1.read_secret(secret, mount_point=self.mount), "data")
        found = client.secrets.kv.v2.read_secret_version(secret, mount_point=self.mount, raise_on_deleted_version=True)
        return _inner(found, "data", "data")

    def _explained(self, said: str, secret: str) -> SetupError:
        match said:
            case "Forbidden" | "Unauthorized":
                problem = "refused the token"
                hint = f"Set VAULT_TOKEN to a token that is still valid and may read {self.mount}/{secret}."
            case "VaultDown":
                problem, hint = "is sealed or down", "Unseal it, then try again."
            case "InvalidRequest" | "UnsupportedOperation":
                problem, hint = "did not understand", "Is `mount` a key-value engine, and `kvVersion` its version?"
            case _:
                problem, hint = f"gave no answer: {said}", "Check the address, the network and the certificates."
        return SetupError(f"The vault at {self.address} {problem}.", hint=hint)

    def _missing(self, credential_id: str, secret: str) -> SetupError:
        other = 3 - self.kv_version
        hint = f"Add it there with its own tools; if {self.mount} is of version {other}, set `kvVersion: {other}`."
        return CredentialNotFoundError(credential_id, looked_in=(self._place(secret),), hint=hint)

    def _place(self, secret: str) -> str:
        return f"{self.mount}/{secret} of {self.address}"


def _inner(answer: Any, *names: str) -> Any:
    for name in names:
        answer = answer.get(name) if isinstance(answer, dict) else None
    return answer
