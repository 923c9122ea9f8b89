"""Files in the place of others: the old ones stay until the new ones are whole."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from deltaworks import failpoints
from deltaworks.errors import ConfigError, RefusedError
from deltaworks.lake.storage import UnreachableError
from deltaworks.spark.batch import left_clean
from deltaworks.vault.storage import Access

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from deltaworks.lake.folder import Folder

DRAFTS = "_deltaworks"  # a name that Spark does not read


def replace_local(folder: Path, run_id: str, write: Callable[[str], None]) -> None:
    """Write a new folder beside the old one, and swap them."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file, not a folder.", hint="Give the folder the files go to.")
    require_ours(str(folder), (path.name for path in folder.glob("*")))
    draft = folder.with_name(f".{folder.name}.{run_id}")
    left_clean(str(draft), run_id, Access())
    try:
        write(str(draft))
        failpoints.reach("before_swap")
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    _swap(draft, folder)


def _swap(draft: Path, final: Path) -> None:
    """Put the finished draft in the place of the old folder."""
    old = draft.with_name(f"{draft.name}.old")
    if final.exists():
        final.rename(old)
    draft.rename(final)
    if old.is_dir():
        shutil.rmtree(old)


def replace_remote(folder: Folder, run_id: str, write: Callable[[str], None]) -> None:
    """Write new files out of sight, put them beside the old ones, then remove these: a bucket has no swap.

    Spark's own way is to remove the old files first, and to lose them where the new ones fail.
    """
    before = folder.files()
    require_ours(folder.uri, (name.partition("/")[0] for name in before))
    draft, placed = f"{DRAFTS}/{run_id}", list[str]()
    try:
        write(f"{folder.uri.rstrip('/')}/{draft}")
        failpoints.reach("before_swap")
        for name in folder.files(draft):
            placed.append(name.removeprefix(f"{draft}/"))
            folder.copy(name, placed[-1])
    except BaseException:
        with suppress(UnreachableError):  # what went wrong first counts
            _remove(folder, set(placed) - set(before))
            folder.remove_folder(draft)
        raise
    _remove(folder, set(before) - set(placed))
    folder.remove_folder(draft)


def _remove(folder: Folder, names: Iterable[str]) -> None:
    for name in sorted(names):
        folder.remove(name)


def require_ours(folder: str, names: Iterable[str]) -> None:
    """Refuse to replace a folder that holds more than files Spark wrote: somebody meant another path."""
    known = ("part-", ".", "_")
    strange = next((name for name in sorted(names) if not name.startswith(known) and "=" not in name), None)
    if strange is not None:
        raise RefusedError(
            f"{folder} holds {strange!r}, which no load of files wrote; replacing the folder would lose it.",
            hint="Give an empty or new folder, or remove that yourself.",
        )
