from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.rows import collected, frame
from tests.integration.transforms.applied import applied

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_newest_row_of_each_key_is_kept(spark: SparkSession) -> None:
    rows = frame(spark, {"id": 1, "at": 5, "n": "old"}, {"id": 1, "at": 7, "n": "new"}, {"id": 2, "at": 1, "n": "one"})

    kept = applied(rows, "deduplicate", keys=["ID"], orderBy="at")

    assert kept.columns == ["id", "at", "n"]
    assert collected(kept) == [{"id": 1, "at": 7, "n": "new"}, {"id": 2, "at": 1, "n": "one"}]


def test_the_oldest_row_can_be_kept_instead(spark: SparkSession) -> None:
    rows = frame(spark, {"id": 1, "at": 5}, {"id": 1, "at": 7}, {"id": 1, "at": None})

    assert collected(applied(rows, "deduplicate", keys="id", orderBy=["at"], keep="first")) == [{"id": 1, "at": 5}]


def test_a_row_without_a_time_is_kept_only_where_there_is_no_other(spark: SparkSession) -> None:
    rows = frame(spark, {"id": 1, "at": None}, {"id": 1, "at": 7}, {"id": 2, "at": None})

    assert collected(applied(rows, "deduplicate", keys="id", orderBy="at")) == [
        {"id": 1, "at": 7},
        {"id": 2, "at": None},
    ]


def test_null_keys_are_one_key(spark: SparkSession) -> None:
    rows = frame(spark, {"id": None, "n": 1}, {"id": None, "n": 2}, schema="id int, n int")

    assert applied(rows, "deduplicate", keys="id").count() == 1


def test_a_tie_is_decided_by_the_rows_and_not_by_their_order(spark: SparkSession) -> None:
    rows = spark.sql("SELECT 1 AS id, 5 AS at, map('k', i) AS m, array(i, 2) AS a FROM range(20) AS t(i)")
    keys = {"keys": ["id"], "orderBy": ["at"]}

    one = applied(rows.repartition(4), "deduplicate", **keys)
    other = applied(rows.orderBy("a", ascending=False).coalesce(1), "deduplicate", **keys)

    assert collected(one) == collected(other)


def test_without_keys_rows_that_are_the_same_throughout_become_one(spark: SparkSession) -> None:
    rows = frame(spark, {"id": 1, "n": 1}, {"id": 1, "n": 1}, {"id": 1, "n": 2})

    assert collected(applied(rows, "deduplicate")) == [{"id": 1, "n": 1}, {"id": 1, "n": 2}]


def test_names_with_dots_and_backticks_are_only_names(spark: SparkSession) -> None:
    rows = frame(spark, {"a.b": 1, "c`d e": 1}, {"a.b": 1, "c`d e": 2})

    assert collected(applied(rows, "deduplicate", keys=["a.b"], orderBy=["c`d e"])) == [{"a.b": 1, "c`d e": 2}]


def test_a_column_that_is_not_there_is_refused(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match="no column 'nope'"):
        applied(frame(spark, {"id": 1}), "deduplicate", keys="id", orderBy="nope")
