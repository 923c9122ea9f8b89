"""A key in a file of its own."""

from __future__ import annotations

import base64
import os
import re
import secrets
from typing import TYPE_CHECKING

from deltaworks.errors import SetupError
from deltaworks.vault.private import alone, read_private, replace_private
from deltaworks.vault.sealing import KEY_BYTES, FileSeal, Seal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_LINE = re.compile(r"(?P<name>[0-9a-f]{16}) (?P<key>[A-Za-z0-9+/]{43}=)\n")


class KeyFile:
    """A key a line, under the name that its vault file gives; a new key has a new name, so that several vaults fit."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def make(self) -> tuple[Seal, bytes]:
        """A new key, in the file beside the others."""
        seal, key = FileSeal(name=secrets.token_hex(8)), os.urandom(KEY_BYTES)
        with alone(self._path):
            known = self._read() if self._path.exists() else {}
            self._save({**known, seal.name: key})
        return seal, key

    def key(self, seal: Seal) -> bytes:
        """The key of that name."""
        assert isinstance(seal, FileSeal)
        known = self._read()
        if seal.name not in known:
            raise SetupError(
                f"{self._path} has no key for this vault.", hint="Name the right `keyFile`, or restore it from a copy."
            )
        return known[seal.name]

    def forget(self, seal: Seal) -> None:
        """Take a key out of the file; without any left, the file goes too."""
        assert isinstance(seal, FileSeal)
        with alone(self._path):
            left = {name: key for name, key in self._read().items() if name != seal.name}
            if left:
                self._save(left)
            else:
                self._path.unlink()

    def _save(self, keys: Mapping[str, bytes]) -> None:
        lines = [f"{name} {base64.b64encode(key).decode()}\n" for name, key in keys.items()]
        replace_private(self._path, "".join(lines).encode())

    def _read(self) -> dict[str, bytes]:
        try:
            lines = read_private(self._path).decode("ascii", "replace").splitlines(keepends=True)
        except FileNotFoundError:
            hint = "Put it there, or name it as `keyFile` in deltaworks.yaml."
            raise SetupError(f"There is no key file at {self._path}.", hint=hint) from None
        found = [_LINE.fullmatch(line) for line in lines]
        keys = {line["name"]: base64.b64decode(line["key"]) for line in found if line}
        if not keys or None in found:
            raise SetupError(f"{self._path} is no key file, or a damaged one.", hint="Restore it from a copy.")
        return keys
