"""Keyrings for tests, made with what the keyring package offers for new ones."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringError, KeyringLocked


class MemoryRing(KeyringBackend):
    """Keeps passwords for as long as the test runs."""

    priority = -1.0  # only where a test sets it

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[str, str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[f"{service} {username}"] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[f"{service} {username}"]


class FileRing(MemoryRing):
    """Keeps passwords in the file `RING`, so that several processes share it."""

    def get_password(self, service: str, username: str) -> str | None:
        path = Path(os.environ["RING"])
        self.kept = json.loads(path.read_text()) if path.exists() else {}
        return super().get_password(service, username)

    def set_password(self, service: str, username: str, password: str) -> None:
        self.get_password(service, username)
        super().set_password(service, username, password)
        Path(os.environ["RING"]).write_text(json.dumps(self.kept))

    def delete_password(self, service: str, username: str) -> None:
        self.get_password(service, username)
        super().delete_password(service, username)
        Path(os.environ["RING"]).write_text(json.dumps(self.kept))


class LockedRing(MemoryRing):
    """Nobody unlocks it."""

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringLocked("Failed to unlock the collection!")


class StubbornRing(MemoryRing):
    """Refuses to forget anything."""

    def delete_password(self, service: str, username: str) -> None:
        raise KeyringError("no")
