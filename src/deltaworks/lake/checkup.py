"""What a bucket lets us do, found out by trying; leaves nothing behind."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from deltaworks.errors import SetupError
from deltaworks.lake.folder import folder_at
from deltaworks.lake.proofs import creates_once
from deltaworks.vault.storage.s3 import S3Access

if TYPE_CHECKING:
    from deltaworks.lake.folder import Folder
    from deltaworks.vault.storage import Access

MOST_SKEW = timedelta(minutes=5)  # S3 itself refuses requests that are a quarter of an hour off


@dataclass(frozen=True, slots=True)
class Checkup:
    """The rights at one place, each tried when it is asked for, in the order a table needs them."""

    uri: str
    access: Access
    folder: Folder
    probe: str = field(default_factory=lambda: f"_deltaworks/probe-{secrets.token_hex(8)}")

    @classmethod
    def of(cls, uri: str, access: Access) -> Checkup:
        """The checkup of a bucket or a folder in it."""
        return cls(uri, access, folder_at(uri, access))

    def list(self) -> str:
        """Try to list."""
        found = len(self.folder.names()) + len(self.folder.folders())
        return f"{self.uri} can be listed; it holds {found or 'nothing'}{' or more' if found >= 1000 else ''}"

    def write(self) -> str:
        """Try to write."""
        self.folder.write(self.probe, b"deltaworks")
        return "an object could be written"

    def read(self) -> str:
        """Try to read what was written, or whatever is there."""
        if self.folder.modified(self.probe) is None:
            there = self.folder.names()
            if not there:
                return "not tried: there is nothing to read"
            self.folder.read(there[0])
            return f"{there[0]} could be read"
        self.folder.read(self.probe)
        return "the object could be read"

    def clock(self) -> str:
        """Compare our clock with the storage's."""
        there = self.folder.modified(self.probe)
        if there is None:
            return "not compared: nothing could be written"
        skew = abs(datetime.now(UTC) - there)
        if skew > MOST_SKEW:
            raise SetupError(
                f"This machine's clock and the storage's are {skew.total_seconds():,.0f} s apart.",
                hint="Set this machine's clock: storage refuses requests from another time.",
            )
        return f"within {skew.total_seconds():.0f} s of the storage's"

    def delete(self) -> str:
        """Try to delete what was written."""
        if self.folder.modified(self.probe) is None:
            return "not tried: nothing could be written"
        self.folder.remove(self.probe)
        return "the object could be deleted"

    def conditional_put(self) -> str:
        """Try whether an object is created only where none is."""
        if not isinstance(self.access, S3Access):
            return "not needed: this storage keeps writers apart by itself"
        if not creates_once(self.uri, self.access):
            raise SetupError(
                "A second object was put over the first although it was asked to be new.",
                hint="Only one writer at a time is safe: write singleDriver: true in `load`, or use other storage.",
            )
        return "honoured: several writers are safe"
