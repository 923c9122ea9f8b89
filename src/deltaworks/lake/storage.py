"""Reading small files beside a table, on any storage the table can be on."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from deltaworks.errors import ConfigError, SetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyarrow.fs import FileSystem


def local_path(uri: str) -> Path | None:
    """The local folder a URI means; none when it is on some other storage."""
    if uri.startswith("file:"):
        return Path(unquote(urlsplit(uri).path))
    return None if "://" in uri else Path(uri)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of files, local or not."""

    uri: str
    files: FileSystem

    @classmethod
    def of(cls, uri: str, storage_options: Mapping[str, str] | None = None) -> Folder:
        """The folder at `uri`; the same options as the table's own."""
        from pyarrow import fs

        path = local_path(uri)
        if path is None:
            return cls(uri, _remote(uri, dict(storage_options or {})))
        if re.search("[\0\ud800-\udfff]", str(path)):  # Arrow would end the process, or fail as if we had a bug
            raise NowhereError(uri, "its name is not UTF-8 text")
        return cls(uri, fs.SubTreeFileSystem(str(path), fs.LocalFileSystem()))

    def names(self, inside: str) -> list[str]:
        """The names of the files in a folder inside this one; empty when it is not there."""
        from pyarrow import fs

        return self._listed(inside, fs.FileType.File)

    def folders(self, inside: str) -> list[str]:
        """The names of the folders in a folder inside this one; empty when it is not there."""
        from pyarrow import fs

        return self._listed(inside, fs.FileType.Directory)

    def _listed(self, inside: str, kind: Any) -> list[str]:
        from pyarrow import fs

        with _reached(self.uri):
            found = self.files.get_file_info(fs.FileSelector(inside, allow_not_found=True))
        return [info.base_name for info in found if info.type == kind]

    def missing(self, names: Iterable[str]) -> list[str]:
        """Which of these files are not there."""
        from pyarrow import fs

        wanted = sorted(names)
        with _reached(self.uri):
            found = self.files.get_file_info(wanted)
        return [name for name, info in zip(wanted, found, strict=True) if info.type == fs.FileType.NotFound]

    def column(self, name: str, column: str) -> list[dict[str, Any]]:
        """One column of a Parquet file, as rows."""
        from pyarrow import parquet

        with _reached(self.uri), self.files.open_input_file(name) as file:
            return parquet.ParquetFile(file).read([column]).to_pylist()  # type: ignore[no-any-return]

    def read(self, name: str) -> str:
        """The text of one file."""
        with _reached(self.uri), self.files.open_input_stream(name) as stream:
            return stream.read().decode("utf-8")  # type: ignore[no-any-return]

    def all_names(self) -> list[str]:
        """The files in this folder and in all below it, each by its path from here."""
        from pyarrow import fs

        with _reached(self.uri):
            found = self.files.get_file_info(fs.FileSelector("", allow_not_found=True, recursive=True))
        return sorted(info.path for info in found if info.type == fs.FileType.File)

    def remove(self, names: Iterable[str]) -> None:
        """Remove these files."""
        with _reached(self.uri):
            for name in names:
                self.files.delete_file(name)


def remove_folder(uri: str, storage_options: Mapping[str, str] | None = None) -> None:
    """Remove a folder and all that is in it; one that is not there is fine."""
    from pyarrow import fs

    parent, _, name = uri.rstrip("/").rpartition("/")
    files = Folder.of(parent, storage_options).files
    with _reached(uri):
        if files.get_file_info(name).type != fs.FileType.NotFound:
            files.delete_dir(name)


class NowhereError(ConfigError):
    """What should be the place of a table is none."""

    def __init__(self, uri: str, why: str) -> None:
        super().__init__(
            f"{uri!r} is no place we can read: {why}.", hint="Give a path, or a URI such as s3://bucket/table."
        )


class UnreachableError(SetupError):
    """The storage of a table does not answer, or does not let us in."""

    def __init__(self, uri: str, why: str) -> None:
        super().__init__(f"{uri} cannot be read: {why}", hint="Check the address, the credentials and the rights.")


def reason(error: Exception) -> str:
    """Why something failed, in one short line: storage errors are told as a chain of lines with the cause last."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    told = re.sub(r"^\W*\x1b\S*|^\s+", "", lines[-1]).strip() if lines else type(error).__name__
    return told if len(told) <= 200 else f"{told[:199]}…"


def _remote(uri: str, storage_options: dict[str, str]) -> FileSystem:
    from deltalake.exceptions import DeltaError
    from deltalake.fs import DeltaStorageHandler
    from pyarrow import fs

    try:
        return fs.PyFileSystem(DeltaStorageHandler(uri, storage_options))
    except DeltaError as error:
        raise NowhereError(uri, reason(error).partition(".")[0]) from error


@contextmanager
def _reached(uri: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnreachableError(uri, reason(error)) from error
