"""Does this storage create an object only where none is? Several writers are safe only there."""

from __future__ import annotations

import json
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltaworks.lake.folder import folder_at
from deltaworks.lake.storage import UnreachableError

if TYPE_CHECKING:
    from deltaworks.lake.folder import Folder
    from deltaworks.vault.storage.s3 import S3Access

A_DAY = 86_400.0
NAME = "proofs.json"


def creates_once(uri: str, access: S3Access) -> bool:
    """Whether a second conditional put of the same object is refused; leaves nothing behind."""
    # Asked again before a no: a lost reply or a busy moment can look like one, but never like a yes.
    return any(_creates_once(folder_at(uri, access)) for _ in range(3))


def _creates_once(folder: Folder) -> bool:
    name = f"_deltaworks/probe-{secrets.token_hex(8)}"
    try:
        folder.create(name, b"first")
        return not folder.create(name, b"second") and folder.read(name) == b"first"
    finally:
        folder.remove(name)


@dataclass(frozen=True, slots=True)
class Proofs:
    """What was proved, for a day: an endpoint can be replaced by another."""

    folder: Folder

    def creates_once(self, uri: str, access: S3Access) -> bool:
        """The same, asked of the storage only where it was not proved lately."""
        place = f"{access.endpoint or 'aws'} {access.bucket}"
        known = self._read()
        if time.time() - known.get(place, 0) < A_DAY:
            return True
        if not creates_once(uri, access):
            return False
        self._save({**known, place: time.time()})
        return True

    def _read(self) -> dict[str, float]:
        try:
            return {place: float(at) for place, at in json.loads(self.folder.text(NAME)).items()}
        except (UnreachableError, ValueError, TypeError, AttributeError):
            return {}

    def _save(self, known: dict[str, float]) -> None:
        with suppress(UnreachableError):  # then it is proved again next time
            self.folder.write(NAME, json.dumps(known).encode())
