"""Reading small files beside a table, on any storage the table can be on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyarrow.fs import FileSystem


def local_path(uri: str) -> Path | None:
    """The local folder a URI means; none when it is on some other storage."""
    if uri.startswith("file:"):
        return Path(unquote(urlsplit(uri).path))
    return None if "://" in uri else Path(uri)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of files, local or not."""

    files: FileSystem

    @classmethod
    def of(cls, uri: str, storage_options: Mapping[str, str] | None = None) -> Folder:
        """The folder at `uri`; the same options as the table's own."""
        from pyarrow import fs

        path = local_path(uri)
        if path is not None:
            return cls(fs.SubTreeFileSystem(str(path), fs.LocalFileSystem()))
        from deltalake.fs import DeltaStorageHandler

        return cls(fs.PyFileSystem(DeltaStorageHandler(uri, dict(storage_options or {}))))

    def names(self, inside: str) -> list[str]:
        """The names of the files in a folder inside this one; empty when it is not there."""
        from pyarrow import fs

        found = self.files.get_file_info(fs.FileSelector(inside, allow_not_found=True))
        return [info.base_name for info in found if info.type == fs.FileType.File]

    def read(self, name: str) -> str:
        """The text of one file."""
        with self.files.open_input_stream(name) as stream:
            return stream.read().decode("utf-8")  # type: ignore[no-any-return]
