"""Version numbers as people say them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def told(versions: Iterable[int]) -> str:
    """Say which versions there are: `versions 2 to 3 and 6 to 9`."""
    runs = [[version for _, version in run] for _, run in groupby(enumerate(versions), lambda pair: pair[1] - pair[0])]
    spelled = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    one = len(runs) == 1 and len(runs[0]) == 1
    return f"version{'' if one else 's'} {' and '.join(spelled)}"
