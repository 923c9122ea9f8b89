from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import collected, frame
from tests.integration.transforms.applied import applied

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.spark.transforms.base import Inputs


def orders(spark: SparkSession) -> DataFrame:
    return frame(
        spark,
        {"id": 1, "currency": "EUR", "amount": 10},
        {"id": 2, "currency": "CHF", "amount": 20},
        {"id": 3, "currency": None, "amount": 30},
    )


def rates(spark: SparkSession) -> Inputs:
    found = frame(spark, {"CURRENCY": "EUR", "rate": 2}, {"CURRENCY": "USD", "rate": 3}, {"CURRENCY": None, "rate": 4})
    return {"rates": found}


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("inner", [(1, "EUR", 2)]),
        ("left", [(1, "EUR", 2), (2, "CHF", None), (3, None, None)]),
        ("right", [(1, "EUR", 2), (None, "USD", 3), (None, None, 4)]),
        ("full", [(1, "EUR", 2), (2, "CHF", None), (3, None, None), (None, "USD", 3), (None, None, 4)]),
    ],
)
def test_rows_are_matched_by_columns_that_come_out_once(
    spark: SparkSession, how: str, expected: list[tuple[int | None, str | None, int | None]]
) -> None:
    joined = applied(orders(spark), "join", rates(spark), input="rates", on="currency", how=how)

    assert joined.columns == ["id", "currency", "amount", "rate"]
    assert {(row.id, row.currency, row.rate) for row in joined.collect()} == set(expected)


@pytest.mark.parametrize(("how", "expected"), [("semi", [1]), ("anti", [2, 3])])
def test_rows_can_be_kept_or_left_out_by_what_matches_them(spark: SparkSession, how: str, expected: list[int]) -> None:
    joined = applied(orders(spark), "join", rates(spark), input="rates", on=["currency"], how=how)

    assert joined.columns == ["id", "currency", "amount"]
    assert [row["id"] for row in collected(joined)] == expected


def test_a_cross_join_puts_everything_beside_everything(spark: SparkSession) -> None:
    joined = applied(orders(spark), "join", rates(spark), input="rates", how="cross", columns=["rate"])

    assert joined.columns == ["id", "currency", "amount", "rate"]
    assert joined.count() == 9


def test_a_condition_names_both_sides(spark: SparkSession) -> None:
    condition = "input.amount > 10 * rates.rate AND rates.currency = 'EUR'"

    joined = applied(orders(spark), "join", rates(spark), input="rates", condition=condition, columns="rate")

    assert collected(joined) == [{"id": 3, "currency": None, "amount": 30, "rate": 2}]


def test_only_chosen_columns_are_taken_and_get_a_prefix(spark: SparkSession) -> None:
    rows, there = frame(spark, {"a.b": 1, "n": 2}), frame(spark, {"a.b": 1, "n": 3, "more": 4})

    joined = applied(rows, "join", {"x": there}, input="x", on=["a.b"], columns=["n"], prefix="x.")

    assert collected(joined) == [{"a.b": 1, "n": 2, "x.n": 3}]


def test_a_name_on_both_sides_is_refused(spark: SparkSession) -> None:
    rows, there = frame(spark, {"id": 1, "n": 2}), frame(spark, {"id": 1, "N": 3})

    with pytest.raises(ConfigError, match="Two columns would be called 'N'") as caught:
        applied(rows, "join", {"x": there}, input="x", on="id")

    assert "prefix" in caught.value.hint


def test_an_input_may_be_joined_twice(spark: SparkSession) -> None:
    rows, there = frame(spark, {"a": 1, "b": 2}), {"x": frame(spark, {"id": 1, "n": "one"}, {"id": 2, "n": "two"})}

    once = applied(rows, "join", there, input="x", condition="a = id", columns="n", prefix="a_")
    twice = applied(once, "join", there, input="x", condition="b = id", columns="n", prefix="b_")

    assert collected(twice) == [{"a": 1, "b": 2, "a_n": "one", "b_n": "two"}]


def test_a_small_input_is_sent_to_every_executor_when_asked(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", -1)
    try:
        applied(orders(spark), "join", rates(spark), input="rates", on="currency", broadcast=True).explain()
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")

    assert "BroadcastHashJoin" in capsys.readouterr().out


def test_keys_of_different_types_are_refused_with_both(spark: SparkSession) -> None:
    rows, there = frame(spark, {"id": 1}), frame(spark, {"id": "1", "n": 1})

    with pytest.raises(ConfigError, match="'id' is bigint in the rows and string in 'x'"):
        applied(rows, "join", {"x": there}, input="x", on="id")


BOTH = "input.id, input.currency, input.amount, rates.CURRENCY, rates.rate"


@pytest.mark.parametrize(
    ("wrong", "columns"),
    [
        ({"on": "nope"}, "id, currency, amount"),
        ({"on": "currency", "columns": ["nope"]}, "CURRENCY, rate"),
        ({"condition": "input.id = rates.nope", "columns": "rate"}, BOTH),
    ],
)
def test_a_column_that_is_not_there_is_refused(spark: SparkSession, wrong: dict[str, Any], columns: str) -> None:
    with pytest.raises(ConfigError, match=r"no column '.*nope'") as caught:
        applied(orders(spark), "join", rates(spark), input="rates", **wrong)

    assert caught.value.hint == f"Columns there: {columns}."
