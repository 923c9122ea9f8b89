from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import collected, frame
from tests.integration.transforms.applied import applied

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


LISTS = """
    SELECT * FROM VALUES (1, array('a', 'b'), map('k', 7)), (2, array(), map()), (3, NULL, NULL) AS t(id, `the.list`, m)
"""


def test_each_item_of_an_array_becomes_a_row(spark: SparkSession) -> None:
    rows = applied(spark.sql(LISTS).drop("m"), "explode", column="the.list")

    assert collected(rows) == [{"id": 1, "the.list": "a"}, {"id": 1, "the.list": "b"}]


def test_items_get_another_name_and_their_place(spark: SparkSession) -> None:
    rows = applied(spark.sql(LISTS).drop("m"), "explode", column="the.list", alias="item", position="at")

    assert rows.columns == ["id", "at", "item"]
    assert collected(rows) == [{"id": 1, "at": 0, "item": "a"}, {"id": 1, "at": 1, "item": "b"}]


def test_rows_without_items_stay_when_asked(spark: SparkSession) -> None:
    rows = applied(spark.sql(LISTS).drop("m"), "explode", column="the.list", alias="item", keepEmpty=True)

    assert collected(rows)[2:] == [{"id": 2, "item": None}, {"id": 3, "item": None}]


def test_each_entry_of_a_map_becomes_a_row(spark: SparkSession) -> None:
    rows = spark.sql(LISTS).drop("the.list")

    assert collected(applied(rows, "explode", column="M")) == [{"id": 1, "key": "k", "value": 7}]
    assert collected(applied(rows, "explode", column="m", alias=["k", "v"], position="at")) == [
        {"id": 1, "at": 0, "k": "k", "v": 7}
    ]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"column": "id"}, "'id' is int, not an array or a map"),
        ({"column": "nope"}, "no column 'nope'"),
        ({"column": "m", "alias": "one"}, r"map<string,int> is two names, of key and value"),
        ({"column": "the.list", "alias": ["k", "v"]}, r"array<string> is one name"),
        ({"column": "the.list", "alias": "ID"}, "Two columns would be called 'ID'"),
    ],
)
def test_what_cannot_be_exploded_is_refused(spark: SparkSession, parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        applied(spark.sql(LISTS), "explode", **parameters)


def test_text_is_refused_with_the_step_that_would_help(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match="is string") as caught:
        applied(frame(spark, {"t": "[1]"}), "explode", column="t")

    assert "parseJson" in caught.value.hint
