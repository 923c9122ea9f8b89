"""Lists of the files that a pipeline has read, kept beside its table: a chain that begins with the list a commit names.

A list is written whole before its commit, under a name that no other has, and never again: one whose commit did not
land is named by nobody. Each takes in the lists before it that hold no more files than itself, so that a chain is
short however many files were read, and a file is written into few lists.
"""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import TYPE_CHECKING

from deltaworks.errors import RefusedError
from deltaworks.lake.folder import Stored
from deltaworks.lake.positions import OURS
from deltaworks.lake.storage import AbsentError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from deltaworks.lake.folder import Folder

FORMAT = 1
KEPT = timedelta(days=30)  # lists that no chain needs any more, for whoever goes back to an earlier position
KEPT_ALWAYS = 100  # of the newest of them
_NAMED = re.compile(r"(?!.*\.\.)[\w.-]+/files/[\w.-]+\.json")


@dataclass(frozen=True, slots=True)
class FileList:
    """Files that were read, by their names, and the list that goes on with earlier ones."""

    files: Mapping[str, Stored]
    before: str | None = None

    def to_json(self) -> str:
        """Spell it for people and for the next run."""
        files = {file.name: [file.size, file.modified, file.tag] for file in self.files.values()}
        return json.dumps({"deltaworks": FORMAT, "before": self.before, "files": files}, ensure_ascii=False)

    @classmethod
    def of_json(cls, text: str) -> FileList:
        """Understand what `to_json` has spelled."""
        found = json.loads(text)
        files = {name: Stored(name, size, modified, tag) for name, (size, modified, tag) in found["files"].items()}
        return cls(files, found["before"])


@dataclass(frozen=True, slots=True)
class Chain:
    """All that a pipeline has read, as the lists say together, the newest first."""

    lists: Mapping[str, FileList] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, Stored]:
        """Each file as it was when it was last read."""
        oldest_first = reversed(list(self.lists.values()))
        return reduce(lambda known, each: known | dict(each.files), oldest_first, dict[str, Stored]())

    def followed_by(self, files: Iterable[Stored]) -> FileList:
        """The next list, which takes in those that hold no more files than itself."""
        fresh = {file.name: file for file in files}
        for name, earlier in self.lists.items():
            if len(earlier.files) > len(fresh):
                return FileList(fresh, before=name)
            fresh = dict(earlier.files) | fresh
        return FileList(fresh)


@dataclass(frozen=True, slots=True)
class FileLists:
    """The lists of one pipeline in the folder of its table."""

    folder: Folder
    pipeline: str

    @property
    def place(self) -> str:
        """Where they are."""
        return f"{self.pipeline}/files"

    def new_name(self, run_id: str) -> str:
        """A name that no list has, which says when it was made."""
        return f"{self.place}/{run_id}-{secrets.token_hex(4)}.json"

    def chain(self, name: str | None) -> Chain:
        """All lists from one on, which may be another pipeline's that was renamed."""
        lists: dict[str, FileList] = {}
        while name is not None:
            if name in lists:
                raise ListLostError(self.folder.uri, name, "names itself again")
            lists[name] = self._read(name)
            name = lists[name].before
        return Chain(lists)

    def _read(self, name: str) -> FileList:
        if not _NAMED.fullmatch(name):
            raise ListLostError(self.folder.uri, name, "is no name of a list")
        try:
            return FileList.of_json(self.folder.text(f"{OURS}/{name}"))
        except AbsentError as error:
            raise ListLostError(self.folder.uri, name, "is not there") from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ListLostError(self.folder.uri, name, "cannot be read") from error

    def write(self, name: str, content: FileList) -> None:
        """Put a list there, whole or not at all."""
        self.folder.write(f"{OURS}/{name}", content.to_json().encode())

    def clear(self, chain: Chain) -> None:
        """Remove lists that have not been needed for long."""
        place = f"{OURS}/{self.place}"
        needed = {name.rpartition("/")[2] for name in chain.lists}
        for name in unneeded(self.folder.names(place), needed, now=datetime.now(UTC)):
            self.folder.remove(f"{place}/{name}")


def unneeded(names: Iterable[str], needed: Collection[str], *, now: datetime) -> list[str]:
    """Which lists nobody will ask for: not part of the chain, old, and not among the newest."""
    spare = sorted(name for name in names if name not in needed and re.match(r"\d{8}T\d{6}-", name))
    return [name for name in spare[:-KEPT_ALWAYS] if name < f"{now - KEPT:%Y%m%dT%H%M%S}"]


class ListLostError(RefusedError):
    """A list of files that were read is gone or damaged, so that nobody knows which files are new."""

    def __init__(self, uri: str, name: str, why: str) -> None:
        super().__init__(
            f"Which files were read already is not known: the list {OURS}/{name} in {uri} {why}.",
            hint="Load everything again with `deltaworks run FILE --full-refresh`; or take all files before some time "
            """for read: `deltaworks state set FILE --position '{"since": "2024-01-31T12:00:00Z"}'`.""",
        )
