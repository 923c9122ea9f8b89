"""When the commits of a local table were made, as whoever looks at its folder sees it: whoever wrote them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def made(table: Path) -> list[float]:
    """The time of each commit, in seconds since 1970, by the age of its file."""
    return [file.stat().st_mtime for file in commit_files(table)]


def commit_files(table: Path) -> list[Path]:
    """The commits' files, oldest first."""
    return sorted((table / "_delta_log").glob("0*[0-9].json"))


def gaps(table: Path) -> list[float]:
    """The seconds from each commit to the next, which in a stream that never waits is how long a batch takes."""
    return [after - before for before, after in pairwise(made(table))]
