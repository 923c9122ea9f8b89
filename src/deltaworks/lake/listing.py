"""Which files a path or a pattern means now, with the state of each: those that Spark would read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.lake.folder import folder_at
from deltaworks.lake.globs import Rooted, name_like, rooted
from deltaworks.lake.storage import AbsentError, local_path

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping

    from deltaworks.lake.folder import Stored
    from deltaworks.vault.storage import Access


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Files as they were when they were listed, by their names below one folder."""

    folder: str
    files: Mapping[str, Stored]
    partitions: str | None = None  # the folder whose partitions they are in, where they are

    def path(self, name: str) -> str:
        """The whole path of a file."""
        return f"{self.folder.rstrip('/')}/{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The files that are wanted of some place, in Spark's understanding."""

    pattern: str
    recursive: bool = False  # sub-folders are read too, and partitions are nothing special
    named: str | None = None  # another pattern, for their names alone

    @property
    def whole(self) -> str:
        """The pattern from the top of its storage, in one spelling."""
        path = local_path(self.pattern)
        # A link stays what it is: where it leads may change.
        return self.pattern.rstrip("/") if path is None else os.path.abspath(path)  # noqa: PTH100

    def listed(self, access: Access) -> Listing:
        """Look which files are there; what is hidden or empty is none."""
        at = rooted(self.whole)
        path = local_path(at.folder)
        if path is not None and not path.is_dir():
            raise AbsentError(self.pattern, f"there is no folder {path}")
        found = folder_at(at.folder, access).stored(at.only or "", lambda folder: _entered(at, folder))
        return self._chosen(at, found)

    def _chosen(self, at: Rooted, found: Iterable[Stored]) -> Listing:
        like = name_like(self.named) if self.named else None
        files: dict[str, Stored] = {}
        bases: set[str] = set()  # folders that hold partitions
        beside: set[str] = set()  # those that hold files themselves
        for file in found:
            base = self._base(at, file.name, like) if file.size else None
            if base is None:
                continue
            files[file.name] = file
            (bases if _partitioned(file.name, base) and not self.recursive else beside).add(base)
        listing = Listing(folder=at.folder, files=files)
        if not bases:
            return listing
        self._require_one(listing, bases, beside)
        return Listing(folder=at.folder, files=files, partitions=listing.path(bases.pop()))

    def _base(self, at: Rooted, name: str, like: re.Pattern[str] | None) -> str | None:
        """The folder that the pattern itself means, for a file below it that is wanted; none for any other."""
        parts = name.split("/")
        *_, own = parts
        if _hidden(own) or (like and not like.fullmatch(own)):
            return None
        for below in at.below:
            base, folders = parts[: len(below)], parts[len(below) : -1]
            if len(base) < len(below) or not _match(below, base) or any(map(_hidden, folders)):
                continue
            if not folders or self.recursive or _are_partitions(folders):
                return "/".join(base)
        return None

    def _require_one(self, listing: Listing, bases: set[str], beside: set[str]) -> None:
        # Spark leaves such files out without a word, or fails.
        if bases & beside:
            raise ConfigError(
                f"{listing.path(min(bases & beside))} holds files beside its partitions, which Spark leaves out.",
                hint="Move them away, or name the files with a pattern.",
            )
        if len(bases) > 1:
            named = " and ".join(listing.path(base) for base in sorted(bases)[:2])
            raise ConfigError(f"{named} both hold partitions.", hint="Read them with a pipeline each.")


def _hidden(name: str) -> bool:
    """Whether Spark passes over a name."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def _are_partitions(folders: Iterable[str]) -> bool:
    return any("=" in folder for folder in folders)


def _partitioned(name: str, base: str) -> bool:
    return _are_partitions(name.removeprefix(base).split("/")[:-1])


def _match(below: Iterable[re.Pattern[str]], names: Iterable[str]) -> bool:
    return all(like.fullmatch(name) for like, name in zip(below, names, strict=False))


def _entered(at: Rooted, folder: str) -> bool:
    """Whether a folder may hold what is wanted."""
    names = folder.split("/")
    return any(_match(below, names) and not any(map(_hidden, names[len(below) :])) for below in at.below)
