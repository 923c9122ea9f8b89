"""A key in the keyring of the operating system."""

from __future__ import annotations

import base64
import os
import secrets
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from deltaworks.errors import SetupError
from deltaworks.vault.extras import required
from deltaworks.vault.sealing import KEY_BYTES, KeyringSeal, Seal

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVICE = "deltaworks-vault"


class KeyringKey:
    """One key a vault, under the name that the vault file gives; a new key has a new name."""

    def make(self) -> tuple[Seal, bytes]:
        """A new key, in the keyring beside the old one."""
        seal, key = KeyringSeal(name=secrets.token_hex(8)), os.urandom(KEY_BYTES)
        text = base64.b64encode(key).decode()
        with _asked() as keyring:
            keyring.set_password(SERVICE, seal.name, text)
            kept = keyring.get_password(SERVICE, seal.name)
        if kept != text:  # some keyrings keep nothing and say nothing
            raise SetupError("The keyring did not keep the key.", hint=_OTHER)
        return seal, key

    def key(self, seal: Seal) -> bytes:
        """The key of that name."""
        assert isinstance(seal, KeyringSeal)
        with _asked() as keyring:
            found = keyring.get_password(SERVICE, seal.name)
        if found is None:
            raise SetupError(
                "The keyring has no key for this vault.",
                hint="Another user or another machine has it. Copy a vault under a passphrase: `vault rotate-key`.",
            )
        return base64.b64decode(found)

    def forget(self, seal: Seal) -> None:
        """Remove a key; one that will not go is of no use to anybody."""
        assert isinstance(seal, KeyringSeal)
        with suppress(SetupError), _asked() as keyring:
            keyring.delete_password(SERVICE, seal.name)


_OTHER = "Use a passphrase or a key file instead: --key passphrase, --key file."


@contextmanager
def _asked() -> Iterator[Any]:
    keyring = required("keyring", "keyring")
    try:
        yield keyring
    except keyring.errors.NoKeyringError:
        raise SetupError("There is no keyring on this machine.", hint=_OTHER) from None
    except keyring.errors.KeyringLocked:
        raise SetupError("The keyring is locked.", hint="Unlock it, then try again.") from None
    except keyring.errors.KeyringError as error:
        raise SetupError(f"The keyring refused: {error}.", hint=_OTHER) from None
