"""Stretches of values with about as many rows, found by questions alone."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise

import pytest

from deltaworks.spark.databases.stretches import Stretch, cut_evenly, number, spelled, stretches, unbent

EVEN = list(range(10_000))
SKEWED = sorted(n**3 for n in range(10_000))
FAR_APART = [*range(9_000), *range(10**15, 10**15 + 1_000)]


def counted(values: list[int], low: int, high: int) -> int:
    """How many values lie between two."""
    return bisect_right(values, high) - bisect_left(values, low)


def found(values: list[int], parts: int, most: int = 500) -> list[Stretch]:
    fine = len(values) / (parts * 4)
    return stretches(values[0], values[-1], lambda low, high: counted(values, low, high), fine=fine, most=most)


@pytest.mark.parametrize("values", [EVEN, SKEWED, FAR_APART], ids=["even", "skewed", "far apart"])
@pytest.mark.parametrize("parts", [2, 4, 16])
def test_parts_are_about_equal_however_values_lie(values: list[int], parts: int) -> None:
    bounds, heaviest = cut_evenly(found(values, parts), parts)

    edges = [values[0], *bounds, values[-1] + 1]
    shares = [counted(values, low, high - 1) for low, high in pairwise(edges)]
    assert len(bounds) == parts - 1
    assert max(shares) / len(values) == pytest.approx(heaviest)
    assert heaviest < 1.3 / parts


def test_a_value_that_many_rows_have_makes_a_heavy_part() -> None:
    bounds, heaviest = cut_evenly(found([*[1] * 6_000, *range(2, 4_002)], 4), 4)

    assert 2 in bounds
    assert heaviest == pytest.approx(0.6, abs=0.01)


def test_questions_come_to_an_end() -> None:
    asked = []

    def rows(low: int, high: int) -> int:
        asked.append((low, high))
        return 1_000

    stretches(0, 2**63, rows, fine=10, most=100)
    assert len(asked) == 101


def test_stretches_have_every_value_once() -> None:
    parts = found(SKEWED, 4)

    assert [each.low for each in parts] == [0, *(each.high + 1 for each in parts[:-1])]
    assert sum(each.rows for each in parts) == len(SKEWED)


def test_one_value_alone_has_nothing_to_be_cut_by() -> None:
    assert cut_evenly(found([7] * 100, 4), 4) == ([], 1)
    assert cut_evenly([Stretch(low=1, high=1, rows=0)], 4) == ([], 1)


def test_an_estimate_of_half_the_table_may_be_all_that_others_do_not_have() -> None:
    heavy, other = Stretch(low=1, high=1, rows=500), Stretch(low=2, high=9, rows=200)

    assert [each.rows for each in unbent([heavy, other], 1_000)] == [900, 100]
    assert unbent([other], 1_000) == [other]


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (-7, "-7"),
        (18446744073709551615, "18446744073709551615"),
        (Decimal("-12.50"), "-12.50"),
        (Decimal("1E+2"), "100"),
        (date(2024, 2, 29), "'2024-02-29'"),
        (datetime(2024, 2, 29, 1, 2, 3, 4), "'2024-02-29 01:02:03.000004'"),
        (datetime(1, 1, 1), "'0001-01-01 00:00:00'"),
    ],
)
def test_a_value_becomes_a_number_and_is_spelled_again(value: object, sql: str) -> None:
    at = number(value)
    assert at is not None
    assert spelled(at, like=value) == sql


def test_what_has_no_place_among_numbers_is_none() -> None:
    assert number("0000-00-00") is None
    assert number(None) is None
