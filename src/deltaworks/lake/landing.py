"""Has it landed? The table itself is asked, never a memory of ours."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from deltaworks.lake.commit import Commit
    from deltaworks.lake.log import Log, LoggedCommit


class Landing(Enum):
    """What the table says about a commit we tried to make."""

    OURS = "ours"
    TAKEN = "taken"  # the mark is there, but another run put it there
    ABSENT = "absent"


class Landed(NamedTuple):
    """Where a commit was found, and whose it is."""

    landing: Landing
    commit: LoggedCommit | None


def landed(log: Log, commit: Commit, since: int) -> Landed:
    """Say whether `commit` is among the commits after version `since`, and whether it is ours.

    Engines skip a replayed mark without a word, so a write that raised nothing
    proves nothing: only the run id in the commit that holds the mark does. Commits
    that carry our run id but are not the load (an automatic compaction) do not count.
    """
    for found in log.since(since):
        if found.operation == "OPTIMIZE":
            continue
        mine = found.ours is not None and found.ours.run_id == commit.run_id
        if commit.mark is None and mine:
            return Landed(Landing.OURS, found)
        if commit.mark is not None and found.holds(commit.mark):
            return Landed(Landing.OURS if mine else Landing.TAKEN, found)
    return Landed(Landing.ABSENT, None)
