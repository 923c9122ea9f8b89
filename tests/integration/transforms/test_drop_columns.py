from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.rows import collected, frame
from tests.integration.transforms.applied import applied, step

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_named_columns_are_left_out(spark: SparkSession) -> None:
    rows = applied(frame(spark, {"id": 1, "a.b": 5, "n": 2}), "dropColumns", columns=["a.b", "n"])

    assert collected(rows) == [{"id": 1}]


def test_a_column_that_is_not_there_is_refused(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match="no column 'nope'"):
        applied(frame(spark, {"id": 1}), "dropColumns", columns="nope")


def test_it_says_the_columns() -> None:
    assert step("dropColumns", columns="id").describe() == "drop id"
