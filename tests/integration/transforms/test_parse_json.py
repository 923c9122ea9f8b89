from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.rows import collected, frame
from tests.integration.transforms.applied import applied

from deltaworks.errors import ConfigError, RunError
from deltaworks.spark.errors import explained

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


BROKEN = [
    '{"a": 1',
    '{"a": "x"}',
    '{"a": 1}} and more',
    '{"a": 1} {"a": 2}',
    "",
    "[1]",
    '{"a": 99999999999}',
]


def test_text_becomes_a_struct_in_its_place(spark: SparkSession) -> None:
    rows = frame(spark, {"the.json": '{"a": 1, "b": {"c d": "x"}}', "id": 1})

    parsed = applied(rows, "parseJson", column="THE.json", schema="a int, b struct<`c d`: string>")

    assert [f"{name}: {kind}" for name, kind in parsed.dtypes] == [
        "the.json: struct<a:int,b:struct<c d:string>>",
        "id: bigint",
    ]
    assert [row.asDict(recursive=True) for row in parsed.collect()] == [
        {"the.json": {"a": 1, "b": {"c d": "x"}}, "id": 1}
    ]


def test_arrays_maps_and_bytes_are_read_too(spark: SparkSession) -> None:
    rows = spark.sql("SELECT '[1, 2]' AS l, CAST('{\"k\": 1}' AS BINARY) AS m")

    lists = applied(rows, "parseJson", column="l", schema="array<int>", into="items")
    both = applied(lists, "parseJson", column="m", schema="map<string, int>")

    assert collected(both) == [{"l": "[1, 2]", "m": {"k": 1}, "items": [1, 2]}]


@pytest.mark.parametrize("nothing", [None, "null"])
def test_a_null_stays_null(spark: SparkSession, nothing: str | None) -> None:
    rows = frame(spark, {"t": nothing}, schema="t string")

    assert collected(applied(rows, "parseJson", column="t", schema="a int")) == [{"t": None}]


@pytest.mark.parametrize("text", BROKEN)
def test_broken_json_fails_and_is_shown(spark: SparkSession, text: str) -> None:
    parsed = applied(frame(spark, {"t": text}), "parseJson", column="t", schema="a int")

    with pytest.raises(RunError) as caught, explained("load"):
        parsed.collect()

    assert str(caught.value) == f"load: Column 't' is not JSON of the type a int: {text}".rstrip()


def test_broken_json_becomes_null_when_asked(spark: SparkSession) -> None:
    rows = frame(spark, *({"t": text} for text in [*BROKEN, '{"a": 1}']))

    parsed = applied(rows, "parseJson", column="t", schema="a int", onError=None, into="v")

    assert [row["t"] for row in collected(parsed) if row["v"] is not None] == ['{"a": 1}']


def test_broken_text_is_kept_in_a_column_of_its_own_when_asked(spark: SparkSession) -> None:
    rows = frame(spark, {"t": "[1]"}, {"t": '[1, "x"]'}, {"t": None})

    parsed = applied(rows, "parseJson", column="t", schema="array<int>", corrupt="bad")

    assert collected(parsed) == [{"t": None, "bad": '[1, "x"]'}, {"t": None, "bad": None}, {"t": [1], "bad": None}]


def test_bad_utf8_is_broken(spark: SparkSession) -> None:
    rows = spark.sql("SELECT X'7B2261223A22FF227D' AS t")

    assert collected(applied(rows, "parseJson", column="t", schema="a string", onError="null")) == [{"t": None}]


def test_options_say_how_values_are_written(spark: SparkSession) -> None:
    rows = frame(spark, {"t": "{'d': '31.12.2024'}"})
    options = {"dateFormat": "dd.MM.yyyy", "allowSingleQuotes": True}

    parsed = applied(rows, "parseJson", column="t", schema="d date", options=options)

    assert [str(row.t.d) for row in parsed.collect()] == ["2024-12-31"]


def test_a_column_that_is_no_text_is_refused_with_its_type(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match="'id' is bigint, not text"):
        applied(frame(spark, {"id": 1}), "parseJson", column="id", schema="a int")


def test_a_type_that_is_none_is_refused(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match='Unsupported data type "INTEGR"'), explained("transform[0] parseJson"):
        applied(frame(spark, {"t": "1"}), "parseJson", column="t", schema="a integr")
