from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.rows import frame
from tests.integration.transforms.applied import applied, step

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_named_columns_change_their_type_and_keep_their_place(spark: SparkSession) -> None:
    rows = frame(spark, {"id": "7", "name": "x", "amount": "1.50"})

    cast = applied(rows, "cast", columns={"ID": "bigint", "amount": "decimal(10,2)"})

    assert [f"{name}: {kind}" for name, kind in cast.dtypes] == ["id: bigint", "name: string", "amount: decimal(10,2)"]


def test_a_value_that_does_not_fit_fails_instead_of_becoming_null(spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    rows = applied(frame(spark, {"id": "seven"}), "cast", columns={"id": "int"})

    with pytest.raises(PySparkException, match="seven"):
        rows.collect()


def test_a_column_that_is_not_there_is_refused(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match="no column 'nope'"):
        applied(frame(spark, {"id": 1}), "cast", columns={"nope": "int"})


def test_it_says_columns_and_types() -> None:
    assert step("cast", columns={"id": "int"}).describe() == "cast id to int"
