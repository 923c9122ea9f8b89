"""A folder on this machine."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from deltaworks.lake.folder import Folder, Stored, everywhere
from deltaworks.lake.storage import NowhereError, reached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class LocalFolder(Folder):
    """A folder of the file system."""

    uri: str
    path: Path

    @classmethod
    def at(cls, uri: str, path: Path) -> LocalFolder:
        """The folder at a path."""
        if re.search("[\0\ud800-\udfff]", str(path)):
            raise NowhereError(uri, "its name is not UTF-8 text")
        return cls(uri, path)

    def names(self, inside: str = "", after: str = "") -> list[str]:
        """The names of the files in a folder inside this one, those after one of them; none when it is not there."""
        return [name for name in self._listed(inside, os.DirEntry.is_file) if name > after]

    def folders(self, inside: str = "") -> list[str]:
        """The names of the folders in a folder inside this one; none when it is not there."""
        return self._listed(inside, os.DirEntry.is_dir)

    def _listed(self, inside: str, kind: Callable[[os.DirEntry[str]], bool]) -> list[str]:
        folder = self.path / inside
        with reached(self.uri):
            if not folder.exists():
                return []
            with os.scandir(folder) as found:
                return sorted(entry.name for entry in found if kind(entry))

    def files(self, inside: str = "") -> list[str]:
        """All files below a folder inside this one, however deep; none when it is not there."""
        with reached(self.uri):
            found = (path for path in (self.path / inside).rglob("*") if path.is_file())
            return sorted(str(path.relative_to(self.path)) for path in found)

    def stored(self, inside: str = "", enter: Callable[[str], bool] = everywhere) -> list[Stored]:
        """The same, each with its state, or the one file of that name; folders that are not entered are passed over."""
        with reached(self.uri):
            place = self.path / inside
            return sorted(self._below(place, enter), key=lambda file: file.name) if place.exists() else []

    def _below(self, place: Path, enter: Callable[[str], bool]) -> Iterator[Stored]:
        name = place.relative_to(self.path).as_posix()
        if not place.is_dir():
            state = place.stat()
            yield Stored(name, state.st_size, state.st_mtime_ns)
        elif name == "." or enter(name):
            for each in place.iterdir():
                if each.exists():  # not a link to nowhere, nor one that went this moment
                    yield from self._below(each, enter)

    def missing(self, names: Iterable[str]) -> list[str]:
        """Which of these files are not there."""
        return [name for name in sorted(names) if not (self.path / name).exists()]

    def read(self, name: str) -> bytes:
        """What is in a file."""
        with reached(self.uri):
            return (self.path / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        """Put a file there, whole or not at all."""
        draft = self._draft(name, content)
        with reached(self.uri):
            draft.replace(self.path / name)

    def create(self, name: str, content: bytes) -> bool:
        """Put a file there if none has that name; says whether it did."""
        draft = self._draft(name, content)
        try:
            (self.path / name).hardlink_to(draft)
        except FileExistsError:
            return False
        finally:
            draft.unlink()
        return True

    def _draft(self, name: str, content: bytes) -> Path:
        # A name of its own: two may write the same file at the same time.
        target = self.path / name
        draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        with reached(self.uri):
            draft.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(content)
        return draft

    def copy(self, name: str, target: str) -> None:
        """Put what is in one file into another, there or not."""
        self.write(target, self.read(name))

    def remove(self, name: str) -> None:
        """Remove a file; one that is not there is fine."""
        with reached(self.uri):
            (self.path / name).unlink(missing_ok=True)

    def remove_folder(self, name: str) -> None:
        """Remove a folder and all that is in it; one that is not there is fine."""
        with reached(self.uri):
            if (self.path / name).exists():
                shutil.rmtree(self.path / name)

    def modified(self, name: str) -> datetime | None:
        """When a file was last written; none when it is not there."""
        try:
            return datetime.fromtimestamp((self.path / name).stat().st_mtime, UTC)
        except FileNotFoundError:
            return None
