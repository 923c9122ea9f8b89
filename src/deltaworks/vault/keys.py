"""What opens a vault file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from deltaworks.errors import SetupError
from deltaworks.vault.keyfile import KeyFile
from deltaworks.vault.keyring import KeyringKey
from deltaworks.vault.passphrase import PassphraseKey

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deltaworks.vault.sealing import KeyKind, Seal


class KeySource(Protocol):
    """Where the key of a vault comes from."""

    def make(self) -> tuple[Seal, bytes]:
        """A new key, kept so that what is sealed with it opens; other keys stay."""

    def key(self, seal: Seal) -> bytes:
        """The key of what is sealed so."""

    def forget(self, seal: Seal) -> None:
        """Let go of a key that opens nothing any more."""


def _nobody() -> str:
    raise SetupError("A passphrase is needed, and nobody was asked.", hint="Give the vault its `passphrase`.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The keys that are at hand; which of them is used, the vault file says."""

    file: Path | None = None
    passphrase: Callable[[], str] = _nobody
    new_passphrase: Callable[[], str] = _nobody

    def of(self, kind: KeyKind) -> KeySource:
        """Where keys of one kind come from."""
        match kind:
            case "passphrase":
                return PassphraseKey(self.passphrase, self.new_passphrase)
            case "keyring":
                return KeyringKey()
            case "file":
                if self.file is None:
                    raise SetupError("A key file is needed, and none was named.", hint="Give the vault its key file.")
                return KeyFile(self.file)
