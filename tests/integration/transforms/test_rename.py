from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.rows import collected, frame
from tests.integration.transforms.applied import applied, step

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_only_the_named_columns_get_another_name(spark: SparkSession) -> None:
    rows = frame(spark, {"id": 1, "a.b": 5})

    renamed = applied(rows, "rename", columns={"a.b": "plain"})

    assert collected(renamed) == [{"id": 1, "plain": 5}]


def test_two_columns_may_change_places(spark: SparkSession) -> None:
    renamed = applied(frame(spark, {"a": 1, "b": 2}), "rename", columns={"A": "b", "b": "a"})

    assert collected(renamed) == [{"b": 1, "a": 2}]


def test_a_name_that_is_there_already_is_refused(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match="Two columns would be called 'n'"):
        applied(frame(spark, {"id": 1, "n": 5}), "rename", columns={"id": "n"})


def test_a_column_that_is_not_there_is_refused_with_those_that_are(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match="no column 'nope'") as caught:
        applied(frame(spark, {"id": 1, "n": 5}), "rename", columns={"nope": "x"})

    assert caught.value.hint == "Columns there: id, n."


def test_it_says_old_and_new_names() -> None:
    assert step("rename", columns={"a": "b"}).describe() == "rename a to b"
