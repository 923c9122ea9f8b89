"""Conditions that share rows out: each row is in one part."""

from __future__ import annotations

import sqlite3

import pytest

from deltaworks.spark.databases.base import Relation, between, remainders
from deltaworks.spark.databases.mysql import MYSQL
from deltaworks.spark.databases.postgres import POSTGRES


@pytest.mark.parametrize("bounds", [["5"], ["0", "5", "10"], ["5", "5", "5"], ["-100", "100"]])
def test_ranges_have_every_row_once_nulls_included(bounds: list[str]) -> None:
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE t (n int)")
        database.executemany("INSERT INTO t VALUES (?)", [(n,) for n in [None, *range(-20, 20)]])
        counts = [
            database.execute(f"SELECT count(*) FROM t WHERE {part}").fetchone()[0] for part in between("n", bounds)
        ]

    assert sum(counts) == 41


def test_no_bounds_are_no_parts() -> None:
    assert between("n", []) == ()


def test_remainders_are_one_part_each() -> None:
    assert remainders("n % 3", 3) == ("n % 3 = 0", "n % 3 = 1", "n % 3 = 2")


@pytest.mark.parametrize(
    ("database", "relation", "expected"),
    [
        (POSTGRES, Relation(table='a"; DROP TABLE b; --'), '"a""; DROP TABLE b; --"'),
        (POSTGRES, Relation(table="t", schema="s.x"), '"s.x"."t"'),
        (MYSQL, Relation(table="a`b", schema="s"), "`s`.`a``b`"),
        (MYSQL, Relation(query="SELECT 1; "), "(SELECT 1\n) AS given"),
    ],
)
def test_a_name_is_one_name_whatever_it_holds(database: object, relation: Relation, expected: str) -> None:
    assert database.spelled(relation) == expected  # type: ignore[attr-defined]


@pytest.mark.parametrize(("text", "expected"), [("it's", "'it''s'"), ("a\\b", "CONVERT(X'615c62' USING utf8mb4)")])
def test_a_text_of_mysql_has_no_backslash_that_could_mean_something(text: str, expected: str) -> None:
    assert MYSQL.literal(text) == expected


def test_the_url_for_spark_has_no_login_and_the_right_scheme() -> None:
    from pydantic import SecretStr

    from deltaworks.spark.databases.address import Address

    address = Address(host="db", port=1, database="a b/c", user="me", password=SecretStr("secret"))
    assert POSTGRES.url(address) == "jdbc:postgresql://db:1/a%20b%2Fc"
    assert MYSQL.url(address) == "jdbc:mysql://db:1/a%20b%2Fc?permitMysqlScheme"
