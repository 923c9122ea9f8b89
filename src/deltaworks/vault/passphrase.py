"""A key made of a passphrase."""

from __future__ import annotations

import os
import unicodedata
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.vault.sealing import KEY_BYTES, PassphraseSeal, Seal

if TYPE_CHECKING:
    from collections.abc import Callable

SHORTEST = 8  # characters


class PassphraseKey:
    """Asks for a passphrase when a key is needed, and keeps neither."""

    def __init__(self, ask: Callable[[], str], ask_new: Callable[[], str]) -> None:
        self._ask = ask
        self._ask_new = ask_new

    def make(self) -> tuple[Seal, bytes]:
        """A new key, of a new passphrase."""
        passphrase = self._ask_new()
        if len(passphrase) < SHORTEST:
            raise ConfigError(
                "The passphrase is too short.", hint=f"Take {SHORTEST} characters or more; several words are best."
            )
        seal = PassphraseSeal(salt=os.urandom(16).hex())
        return seal, _derived(passphrase, seal)

    def key(self, seal: Seal) -> bytes:
        """The key that the passphrase makes."""
        assert isinstance(seal, PassphraseSeal)
        return _derived(self._ask(), seal)

    def forget(self, seal: Seal) -> None:
        """Nothing to do: a passphrase is remembered by people."""


def _derived(passphrase: str, seal: PassphraseSeal) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    # The same letters, whichever way a keyboard makes them.
    text = unicodedata.normalize("NFC", passphrase).encode(errors="surrogateescape")
    return Scrypt(salt=bytes.fromhex(seal.salt), length=KEY_BYTES, n=seal.n, r=seal.r, p=seal.p).derive(text)
