"""Which question marks and semicolons of a statement mean something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deltaworks.spark.databases.lexis import MYSQL, POSTGRES, pieces, without_end, without_placeholders

if TYPE_CHECKING:
    import re

BOTH = (POSTGRES, MYSQL)


@pytest.mark.parametrize("lexis", BOTH, ids=["PostgreSQL", "MySQL"])
@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT 1", "SELECT 1"),
        ("SELECT 1;", "SELECT 1"),
        ("SELECT 1; -- all", "SELECT 1"),
        ("SELECT 1 ;; \n /* a; b */ ;", "SELECT 1 "),
        ("SELECT 1 -- all;", "SELECT 1 -- all;"),
        ("SELECT 1 /* one */; -- all", "SELECT 1 /* one */"),
        ("SELECT ';'", "SELECT ';'"),
        ("SELECT 'it''s; -- no' ; -- yes", "SELECT 'it''s; -- no' "),
        ("", ""),
        (" ; ", " "),
    ],
)
def test_only_the_semicolon_at_the_end_goes(lexis: re.Pattern[str], statement: str, expected: str) -> None:
    assert without_end(statement, lexis) == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT 1 /*! LIMIT 1 */", "SELECT 1 /*! LIMIT 1 */"),
        ("SELECT 1; # all", "SELECT 1"),
        (r"SELECT 'it\'s; -- no'; -- yes", r"SELECT 'it\'s; -- no'"),
        ('SELECT "a; -- b"', 'SELECT "a; -- b"'),
        ("SELECT `a``; #`", "SELECT `a``; #`"),
        ("SELECT 1--1;", "SELECT 1--1"),
    ],
)
def test_mysql_ends_as_mysql_says(statement: str, expected: str) -> None:
    assert without_end(statement, MYSQL) == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT j ? 'a'", "SELECT j ?? 'a'"),
        ("SELECT j ?| ARRAY['a?']", "SELECT j ??| ARRAY['a?']"),
        ("SELECT 'it''s ?' ? x", "SELECT 'it''s ?' ?? x"),
        (r"SELECT E'it\'s ?' ? x", r"SELECT E'it\'s ?' ?? x"),
        (r"SELECT 'a\' ? 'b'", r"SELECT 'a\' ?? 'b'"),
        ('SELECT "who?" ? "a""?"', 'SELECT "who?" ?? "a""?"'),
        ("SELECT $$ ? $$ ? $a$ ? $$ ? $a$", "SELECT $$ ? $$ ?? $a$ ? $$ ? $a$"),
        ("SELECT a$b$ ? c$b$", "SELECT a$b$ ?? c$b$"),
        ("SELECT 1 -- why?\n ? 2", "SELECT 1 -- why?\n ?? 2"),
        ("SELECT /* ? /* ? */ ? */ j ? 'a'", "SELECT /* ? /* ? */ ? */ j ?? 'a'"),
    ],
)
def test_a_question_mark_that_is_an_operator_is_no_placeholder(statement: str, expected: str) -> None:
    assert without_placeholders(statement, POSTGRES) == expected


@pytest.mark.parametrize("lexis", BOTH, ids=["PostgreSQL", "MySQL"])
@pytest.mark.parametrize("statement", ["SELECT 'open", "/* open", "$$ open", '"', "a 'b' -- c\n/* d */ \"e\""])
def test_no_letter_of_a_statement_is_lost(lexis: re.Pattern[str], statement: str) -> None:
    assert "".join(text for _, text in pieces(statement, lexis)) == statement
