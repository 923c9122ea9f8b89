"""Which faults meet which pipelines: all of them all, and a choice of them in every run of the tests."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = ("kafka", "postgres", "feed")
MODES = ("Append", "Overwrite", "Upsert")


def matrix(
    *faults: Any,
    thorough: tuple[Any, ...] = (),
    quick: int = 3,
    turn: int = 0,
    sources: tuple[str, ...] = SOURCES,
    modes: tuple[str, ...] = MODES,
) -> Iterator[Any]:
    """Every fault with every source and mode, as parameters for `fault` and `case`.

    Of each fault but the `thorough` ones `quick` are in the choice, by turns, so that three of them meet all sources
    and all modes. Where the turns begin is for faults that are alone: else they would all meet the same.
    """
    for number, fault in enumerate((*faults, *thorough), turn):
        for (s, source), (m, mode) in product(enumerate(sources), enumerate(modes)):
            rank, mine = (s + number) % len(sources), (s + 2 * number) % len(modes)
            chosen = fault not in thorough and rank < quick and m == mine
            named = "-".join(filter(None, (str(fault).replace(" ", "_"), source, mode)))
            yield pytest.param(fault, (source, mode), id=named, marks=() if chosen else pytest.mark.thorough)


def over(*faults: Any, **choice: Any) -> pytest.MarkDecorator:
    """The same, as what a test is marked with."""
    found = list(matrix(*faults, **choice))
    return pytest.mark.parametrize(("fault", "case"), found, indirect=["case"])
