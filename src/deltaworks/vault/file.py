"""Credentials in a sealed file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import SecretStr

from deltaworks.errors import ConfigError, RefusedError, SetupError, did_you_mean
from deltaworks.failpoints import reach
from deltaworks.vault.credential import Credential, CredentialNotFoundError, require_name
from deltaworks.vault.private import alone, read_private, replace_private
from deltaworks.vault.sealing import parsed, sealed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from deltaworks.vault.keys import Keys
    from deltaworks.vault.sealing import KeyKind, Seal, Sealed

_SAID = {"passphrase": "this passphrase", "file": "the key in the key file", "keyring": "the key in the keyring"}


class NoVaultError(SetupError):
    """There is no vault file yet."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"There is no vault at {path}.", hint="Make one with `deltaworks vault init`.")


class WrongKeyError(SetupError):
    """A vault did not open: its key is another, or a byte of it was changed."""

    def __init__(self, path: Path, kind: KeyKind) -> None:
        super().__init__(
            f"{path} does not open with {_SAID[kind]}.",
            hint="Is it the right one? If it is, the file was changed: restore it from a copy.",
        )


@dataclass(frozen=True, slots=True, repr=False)
class _Opened:
    """What a vault holds, and how to seal it again."""

    seal: Seal
    key: bytes
    credentials: dict[str, dict[str, str]]


class FileVault:
    """Credentials in one file that only its owner can read and only its key opens.

    It is read anew at each look, so that what another process adds is found; the key is asked for once.
    """

    def __init__(self, path: Path, keys: Keys, *, kind: KeyKind | None = None) -> None:
        if keys.file is not None and keys.file.resolve() == path.resolve():
            raise ConfigError(f"{path} cannot be the vault and its key.", hint="Give the key file another name.")
        self.path = path
        self.keys = keys
        self._kind = kind  # what it should be sealed with; none: whatever it is
        self._known: dict[Seal, bytes] = {}  # keys that fitted

    def get(self, credential_id: str) -> Credential:
        """Return the credential of that id."""
        try:
            known = self._open().credentials
        except NoVaultError as error:
            hint = f"{error.hint} Then add it with `deltaworks vault set {credential_id}`."
            raise CredentialNotFoundError(
                credential_id, looked_in=(f"{self.path}, which is not there",), hint=hint
            ) from None
        if credential_id not in known:
            held = ", ".join(sorted(known)) or "nothing yet"
            hint = f"Add it with `deltaworks vault set {credential_id}`; the vault holds {held}."
            raise CredentialNotFoundError(credential_id, looked_in=(str(self.path),), hint=hint)
        return Credential(credential_id, {name: SecretStr(value) for name, value in known[credential_id].items()})

    def names(self) -> dict[str, tuple[str, ...]]:
        """The credentials it holds, each with the names of its values."""
        return {name: tuple(sorted(values)) for name, values in sorted(self._open().credentials.items())}

    def create(self, kind: KeyKind) -> None:
        """Make the file, empty, under a new key."""
        with alone(self.path):
            if self.path.exists():
                raise RefusedError(f"There is a vault at {self.path} already.", hint="Use it, or move it away first.")
            self._save_under_new_key(kind, {})

    def put(self, credential_id: str, values: Mapping[str, SecretStr]) -> None:
        """Add values to a credential, or change them; its other values stay."""
        for name in (credential_id, *values):
            require_name(name)
        given = {name: value.get_secret_value() for name, value in values.items()}
        with alone(self.path):
            found = self._open()
            changed = found.credentials.get(credential_id, {}) | given
            self._save(_Opened(found.seal, found.key, found.credentials | {credential_id: changed}))

    def remove(self, credential_id: str) -> None:
        """Forget a credential."""
        with alone(self.path):
            found = self._open()
            if credential_id not in found.credentials:
                hint = did_you_mean(credential_id, found.credentials)
                raise CredentialNotFoundError(credential_id, looked_in=(str(self.path),), hint=hint)
            left = {name: values for name, values in found.credentials.items() if name != credential_id}
            self._save(_Opened(found.seal, found.key, left))

    def rotate(self, kind: KeyKind | None = None) -> KeyKind:
        """Seal it under a new key, of this kind or of the same; returns the kind.

        The new key is kept before the vault is sealed with it, and the old one is let go after:
        a kill at any moment leaves a vault that opens.
        """
        with alone(self.path):
            closed = self._read()
            found = self._fitting(closed)
            kind = kind or closed.seal.key
            self._save_under_new_key(kind, found.credentials)
            reach("after_rotating")
            self.keys.of(found.seal.key).forget(found.seal)
            return kind

    def _save_under_new_key(self, kind: KeyKind, credentials: dict[str, dict[str, str]]) -> None:
        seal, key = self.keys.of(kind).make()
        reach("after_making_a_key")
        # Should this fail, the new key stays: one too many does no harm, and one too few loses everything.
        self._save(_Opened(seal, key, credentials))

    def _save(self, content: _Opened) -> None:
        text = json.dumps(content.credentials).encode()
        replace_private(self.path, sealed(text, content.seal, content.key))
        self._known[content.seal] = content.key

    def _open(self) -> _Opened:
        closed = self._read()
        if self._kind not in (None, closed.seal.key):
            raise ConfigError(
                f"{self.path} is sealed with key: {closed.seal.key}, and the project says key: {self._kind}.",
                hint="Change the project, or seal the vault anew with `deltaworks vault rotate-key`.",
            )
        return self._fitting(closed)

    def _read(self) -> Sealed:
        try:
            return parsed(read_private(self.path), self.path)
        except FileNotFoundError:
            raise NoVaultError(self.path) from None

    def _fitting(self, closed: Sealed) -> _Opened:
        source = self.keys.of(closed.seal.key)
        key = self._known.get(closed.seal) or source.key(closed.seal)
        content = closed.opened(key)
        if content is None:
            raise WrongKeyError(self.path, closed.seal.key)
        self._known[closed.seal] = key
        return _Opened(closed.seal, key, json.loads(content))

    def __repr__(self) -> str:
        return f"FileVault({str(self.path)!r})"
