from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaworks.lake.sql import literal, quoted

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
