from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaworks.lake.sql import literal, quoted, same_each_time, typed

NASTY = ["'", "`", "--", ";", "/* */", "a.b", "select", "two words", "“”", "\\", "\\'", "{rows}", "'; DROP TABLE t --"]


@pytest.mark.parametrize("name", NASTY)
def test_a_nasty_name_stays_one_name(name: str) -> None:
    assert unquoted(quoted(name)) == name


@given(st.text())
def test_every_name_stays_one_name(name: str) -> None:
    assert unquoted(quoted(name)) == name


@pytest.mark.parametrize("text", NASTY)
def test_a_nasty_text_stays_one_value(text: str) -> None:
    assert unescaped(literal(text)) == text


@given(st.text())
def test_every_text_stays_one_value(text: str) -> None:
    assert unescaped(literal(text)) == text


def unquoted(sql: str) -> str:
    """Read a quoted name as SQL does: up to the first backtick that is not doubled."""
    found = re.match(r"`((?:[^`]|``)*)`", sql)
    assert found
    assert found.end() == len(sql)
    return found[1].replace("``", "`")


def unescaped(sql: str) -> str:
    """Read a string as Spark does: up to the first quote that no backslash comes before."""
    found = re.match(r"'((?:[^'\\]|\\.)*)'", sql, re.DOTALL)
    assert found
    assert found.end() == len(sql)
    return re.sub(r"\\(.)", r"\1", found[1], flags=re.DOTALL)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("5", "int", "5"),
        ("-5", "bigint", "-5L"),
        ("5", "smallint", "5S"),
        ("5", "tinyint", "5Y"),
        ("1.50", "decimal(10,2)", "1.50BD"),
        ("it's", "string", "'it\\'s'"),
        ("2024-01-31", "date", "DATE'2024-01-31'"),
        ("2024-01-31 10:00:00.5", "timestamp_ntz", "TIMESTAMP_NTZ'2024-01-31 10:00:00.5'"),
        ("1", "timestamp", "TIMESTAMP'1970-01-01 00:00:00.000001+00:00'"),
    ],
)
def test_a_value_is_spelled_as_its_type(text: str, kind: str, expected: str) -> None:
    assert typed(text, kind) == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1.5", "double"),
        ("true", "boolean"),
        ("1E+3", "decimal(38,0)"),
        ("+10000-01-01", "date"),
        ("999999999999999999", "timestamp"),
        ("-62135596800000000", "timestamp"),  # year 1, which Python prints without its zeros
    ],
)
def test_a_value_without_an_exact_literal_is_none(text: str, kind: str) -> None:
    assert typed(text, kind) is None


@pytest.mark.parametrize("expression", ["a + 1", "upper(brand)", "user_id", "a.user_name", "round(x, 2)", "knowledge"])
def test_an_expression_over_one_row_gives_the_same_each_time(expression: str) -> None:
    assert same_each_time(expression)


@pytest.mark.parametrize(
    "expression", ["rand()", "UUID()", "current_timestamp()", "now()", "row_number() OVER (ORDER BY a)", "first(a)"]
)
def test_an_expression_that_asks_for_chance_or_the_clock_does_not(expression: str) -> None:
    assert not same_each_time("a", expression)
