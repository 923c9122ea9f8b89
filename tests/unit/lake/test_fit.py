from __future__ import annotations

import pytest

from deltaworks.lake.fit import Difference, compared, holds_all
from deltaworks.lake.schema import Column


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("bigint", "int"),
        ("bigint", "bigint"),
        ("int", "tinyint"),
        ("double", "float"),
        ("double", "int"),
        ("decimal(12,4)", "decimal(10,2)"),
        ("decimal(12,2)", "int"),
        ("decimal(20,0)", "bigint"),
    ],
)
def test_a_wide_type_holds_every_value_of_a_narrow_one(wide: str, narrow: str) -> None:
    assert holds_all(wide, narrow)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("int", "bigint"),
        ("double", "bigint"),  # beyond 2^53 it would lose digits
        ("float", "int"),
        ("float", "double"),
        ("decimal(10,2)", "decimal(12,4)"),
        ("decimal(10,4)", "decimal(10,2)"),
        ("decimal(10,2)", "int"),
        ("string", "int"),
        ("timestamp", "date"),
        ("timestamp", "timestamp_ntz"),
        ("array<bigint>", "array<int>"),
    ],
)
def test_a_type_that_would_lose_a_value_holds_not_all(wide: str, narrow: str) -> None:
    assert not holds_all(wide, narrow)


def test_columns_are_told_apart_by_what_can_be_done_about_them() -> None:
    there = [
        Column("id", "int"),
        Column("n", "bigint"),
        Column("d", "decimal(5,2)"),
        Column("t", "string"),
        Column("gone", "string"),
        Column("made", "date", made=True),
    ]
    incoming = [
        Column("ID", "int"),
        Column("n", "int"),
        Column("d", "decimal(9,2)"),
        Column("t", "int"),
        Column("new", "int"),
    ]

    fit = compared(incoming, there)

    assert fit.new == ("new",)
    assert fit.missing == ("gone",)
    assert fit.narrower == (Difference("n", "int", "bigint"),)
    assert fit.wider == (Difference("d", "decimal(9,2)", "decimal(5,2)"),)
    assert fit.wrong == (Difference("t", "int", "string"),)


@pytest.mark.parametrize(("there", "incoming"), [("int", "double"), ("int", "decimal(12,0)"), ("string", "int")])
def test_delta_widens_only_within_a_family(there: str, incoming: str) -> None:
    fit = compared([Column("n", incoming)], [Column("n", there)])

    assert (fit.wider, fit.wrong) == ((), (Difference("n", incoming, there),))
