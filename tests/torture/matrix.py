"""Which faults meet which pipelines: all of them all, and a choice of them in every run of the tests."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = ("kafka", "postgres", "feed")
MODES = ("Append", "Overwrite", "Upsert")


def matrix(*faults: Any, quick: int = 3, sources: tuple[str, ...] = SOURCES) -> Iterator[Any]:
    """Every fault with every source and mode, as parameters for `fault` and `case`.

    Of each fault `quick` are in the choice, by turns, so that three of them meet all sources and all modes.
    """
    for number, fault in enumerate(faults):
        for source, mode in product(sources, MODES):
            turn = (SOURCES.index(source) + MODES.index(mode) + number) % 3
            chosen = turn == 0 and quick > (SOURCES.index(source) + number) % 3
            named = "-".join(filter(None, (str(fault).replace(" ", "_"), source, mode)))
            yield pytest.param(fault, (source, mode), id=named, marks=() if chosen else pytest.mark.thorough)


def over(*faults: Any, quick: int = 3, sources: tuple[str, ...] = SOURCES) -> pytest.MarkDecorator:
    """The same, as what a test is marked with."""
    found = list(matrix(*faults, quick=quick, sources=sources))
    return pytest.mark.parametrize(("fault", "case"), found, indirect=["case"])
