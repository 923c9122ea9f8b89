"""Where rows lie along a column, found by asking how many there are between two values, and reading none of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FIRST = datetime(1, 1, 1)
STEP = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The values from one to another, both of them included, and about how many rows have them."""

    low: int
    high: int
    rows: float


def stretches(low: int, high: int, rows: Callable[[int, int], int], *, fine: float, most: int) -> list[Stretch]:
    """Halve a stretch, and always the heaviest half, until none that can be halved has more rows than is fine.

    After so many questions it ends in any case: a few values far from all others take many.
    """
    heap, whole = [(-rows(low, high), low, high)], list[tuple[int, int, int]]()
    for _ in range(most // 2):
        if not heap or -heap[0][0] <= fine:
            break
        count, low, high = heappop(heap)
        if low == high:
            whole.append((count, low, high))
            continue
        middle = (low + high) // 2
        for half in ((low, middle), (middle + 1, high)):
            heappush(heap, (-rows(*half), *half))
    found = sorted((low, high, -count) for count, low, high in (*heap, *whole))
    return [Stretch(low=low, high=high, rows=count) for low, high, count in found]


def unbent(found: Sequence[Stretch], rows: int) -> list[Stretch]:
    """Estimates as InnoDB makes them, set right: about twice the rows, but never more than half the table."""
    most = 0.45 * rows
    capped = sum(each.rows > most for each in found)
    others = sum(each.rows for each in found if each.rows <= most) / 2
    if not capped:
        return list(found)
    share = max(rows - others, 0) / capped
    return [replace(each, rows=share if each.rows > most else each.rows / 2) for each in found]


def cut_evenly(found: Sequence[Stretch], parts: int) -> tuple[list[int], float]:
    """The first values of all parts but the first, so that they are about equal; and the share of the heaviest."""
    sums = list(accumulate(each.rows for each in found))
    total = sums[-1] or 1
    nearest = {_nearest(sums, total * part / parts) for part in range(1, parts)}
    ends = sorted(end for end in nearest if 0 < sums[end] < total)
    edges = [0.0, *(sums[end] for end in ends), total]
    return [found[end].high + 1 for end in ends], max(high - low for low, high in pairwise(edges)) / total


def _nearest(sums: Sequence[float], goal: float) -> int:
    return min(range(len(sums)), key=lambda at: abs(sums[at] - goal))


def number(value: object) -> int | None:
    """A value as a whole number, in its order; none of what has no place there, as a date that is none."""
    match value:
        case int():
            return value
        case Decimal():
            return int(value.scaleb(_behind(value)))
        case datetime():
            return (value - FIRST) // STEP
        case date():
            return value.toordinal()
    return None


def spelled(at: int, *, like: object) -> str:
    """A number as SQL of a value like another."""
    match like:
        case Decimal():
            return f"{Decimal(at).scaleb(-_behind(like)):f}"
        case datetime():
            return f"'{(FIRST + at * STEP).isoformat(sep=' ')}'"
        case date():
            return f"'{date.fromordinal(at).isoformat()}'"
    return str(at)


def _behind(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int), "a column has no infinite numbers"
    return -exponent
