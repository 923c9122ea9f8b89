"""The format of a vault file: a line that says how it is sealed, then what is sealed.

`deltaworks-vault/1 {"key":"file","name":"…"}` and a line end, then a nonce of 12 bytes and AES-256-GCM of
everything the vault holds. The first line is authenticated too, byte for byte. No part can change without being
noticed, and no two can change places.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from deltaworks.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1
KEY_BYTES = 32
_NONCE_BYTES = 12
_FIRST_LINE = re.compile(rb"deltaworks-vault/(?P<version>[1-9][0-9]{0,8}) (?P<seal>[^\n]{2,4000})\n")

KeyKind = Literal["keyring", "file", "passphrase"]
KeyName = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]


class _Seal(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


def _power_of_two(number: int) -> int:
    if number & (number - 1):
        raise ValueError("not a power of two")
    return number


class PassphraseSeal(_Seal):
    """Sealed with a key that scrypt makes of a passphrase."""

    key: Literal["passphrase"] = "passphrase"
    # Bounded: whoever can write this line could else ask for all memory and all time, or for a key soon guessed.
    n: Annotated[int, Field(ge=2**14, le=2**18), AfterValidator(_power_of_two)] = 2**17
    r: Literal[8] = 8
    p: Annotated[int, Field(ge=1, le=4)] = 1
    salt: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class FileSeal(_Seal):
    """Sealed with a key that a key file keeps under a name."""

    key: Literal["file"] = "file"
    name: KeyName


class KeyringSeal(_Seal):
    """Sealed with a key that the keyring of the operating system keeps under a name."""

    key: Literal["keyring"] = "keyring"
    name: KeyName


Seal = Annotated[PassphraseSeal | FileSeal | KeyringSeal, Field(discriminator="key")]


class DamagedVaultError(SetupError):
    """A file that is not a whole vault."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is no vault file, or a damaged one.", hint="Restore it from a copy.")


@dataclass(frozen=True, slots=True)
class Sealed:
    """A vault file, still closed."""

    seal: Seal
    first_line: bytes
    body: bytes

    def opened(self, key: bytes) -> bytes | None:
        """What it holds; none where the key does not fit, or a byte was changed."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce, closed = self.body[:_NONCE_BYTES], self.body[_NONCE_BYTES:]
        try:
            return AESGCM(key).decrypt(nonce, closed, self.first_line)
        except (InvalidTag, ValueError):  # too short to have a nonce and a tag
            return None


def sealed(content: bytes, seal: Seal, key: bytes) -> bytes:
    """Seal what a vault holds, each time under a new nonce."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    first_line = f"deltaworks-vault/{VERSION} {seal.model_dump_json()}\n".encode()
    nonce = os.urandom(_NONCE_BYTES)
    return first_line + nonce + AESGCM(key).encrypt(nonce, content, first_line)


def parsed(raw: bytes, path: Path) -> Sealed:
    """Read how a vault is sealed; its path is for errors."""
    found = _FIRST_LINE.match(raw)
    if found is None:
        raise DamagedVaultError(path)
    if int(found["version"]) > VERSION:
        raise SetupError(f"{path} has a newer format than this deltaworks knows.", hint="Upgrade deltaworks.")
    try:
        seal = _seals().validate_json(found["seal"])
    except ValidationError:
        raise DamagedVaultError(path) from None
    return Sealed(seal, found[0], raw[found.end() :])


@cache
def _seals() -> TypeAdapter[Seal]:
    return TypeAdapter(Seal)
