"""A folder of files, local or not: what a table, its log and run records are kept in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deltaworks.lake.storage import local_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from deltaworks.vault.storage import Access


def folder_at(uri: str, access: Access | None = None) -> Folder:
    """The folder at a URI, reached in the way that was found for it."""
    path = local_path(uri)
    if path is None:
        from deltaworks.lake.remote import RemoteFolder

        return RemoteFolder.at(uri, access)
    from deltaworks.lake.local import LocalFolder

    return LocalFolder.at(uri, path)


@dataclass(frozen=True, slots=True)
class Stored:
    """A file as storage lists it: its name, and what tells it from another that takes its place."""

    name: str
    size: int
    modified: int  # nanoseconds since 1970, by the storage's own clock
    tag: str | None = None  # which changes with what is in the file, where storage has such

    def same_as(self, other: Stored) -> bool:
        """Whether this is the file it was."""
        by_tag = self.tag is not None and other.tag is not None
        return self.size == other.size and (self.tag == other.tag if by_tag else self.modified == other.modified)


def everywhere(folder: str) -> bool:
    """Enter every folder."""
    return True


class Folder(ABC):
    """Files by their names below one place."""

    uri: str

    @abstractmethod
    def names(self, inside: str = "", after: str = "") -> list[str]:
        """The names of the files in a folder inside this one, those after one of them; none when it is not there."""

    @abstractmethod
    def folders(self, inside: str = "") -> list[str]:
        """The names of the folders in a folder inside this one; none when it is not there."""

    @abstractmethod
    def files(self, inside: str = "") -> list[str]:
        """All files below a folder inside this one, however deep; none when it is not there."""

    @abstractmethod
    def stored(self, inside: str = "", enter: Callable[[str], bool] = everywhere) -> list[Stored]:
        """The same, each with its state, or the one file of that name; folders may be passed over where that helps."""

    @abstractmethod
    def missing(self, names: Iterable[str]) -> list[str]:
        """Which of these files are not there."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """What is in a file."""

    @abstractmethod
    def write(self, name: str, content: bytes) -> None:
        """Put a file there, whole or not at all."""

    @abstractmethod
    def create(self, name: str, content: bytes) -> bool:
        """Put a file there if none has that name; says whether it did."""

    @abstractmethod
    def copy(self, name: str, target: str) -> None:
        """Put what is in one file into another, there or not, without fetching it where storage can."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a file; one that is not there is fine."""

    @abstractmethod
    def remove_folder(self, name: str) -> None:
        """Remove a folder and all that is in it; one that is not there is fine."""

    @abstractmethod
    def modified(self, name: str) -> datetime | None:
        """When a file was last written, by the storage's own clock; none when it is not there."""

    def text(self, name: str) -> str:
        """What is in a text file."""
        return self.read(name).decode("utf-8")

    def column(self, name: str, column: str) -> list[dict[str, Any]]:
        """One column of a Parquet file, as rows."""
        import pyarrow as pa
        from pyarrow import parquet

        return parquet.ParquetFile(pa.BufferReader(self.read(name))).read([column]).to_pylist()  # type: ignore[no-any-return]
