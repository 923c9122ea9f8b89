"""Where a reader of what is new in a table stands."""

from __future__ import annotations

import pytest

from deltaworks.spark.databases.base import Reading, Relation, Session
from deltaworks.spark.databases.cursor import Cursor, CursorPosition
from deltaworks.spark.databases.postgres import POSTGRES

NUMBER = Cursor(
    session=Session(POSTGRES, None),
    relation=Relation(table="t"),
    reading=Reading(name="id", kind="decimal(38,3)", select="id"),
    kind="number",
)


@pytest.mark.parametrize(
    ("value", "lag", "earlier"),
    [
        ("100", 7, "93"),
        ("5", 10**30, f"-{10**30 - 5}"),
        ("12345678901234567890123456789012345.678", 1, "12345678901234567890123456789012344.678"),
        ("-99999999999999999999999999999999999999", 1, "-100000000000000000000000000000000000000"),
    ],
)
def test_a_number_less_a_lag_keeps_all_its_digits(value: str, lag: int, earlier: str) -> None:
    assert NUMBER.earlier(value, lag) == earlier


def test_a_position_is_understood_as_it_is_spelled_and_as_earlier_commits_spell_it() -> None:
    found = CursorPosition(column="id", kind="number", value="7", keys=("id",), at=frozenset({"a"}), table="16384")

    assert CursorPosition.of(found.to_dict()) == found
    assert CursorPosition.of({"column": "id", "kind": "number", "value": "7"}).table is None
