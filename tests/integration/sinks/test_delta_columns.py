"""Columns that come, go, change their name or their type: taken or refused, by name, before anything is written."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import both, frame, from_spark
from tests.integration.sinks.loads import landed, load

from deltaworks.lake.table import UnreadableTableError, open_table

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

MODES = [("Append", {}), ("Overwrite", {}), ("Upsert", {"mergeKeys": "id"})]


def types(path: Path) -> dict[str, str]:
    return {column.name: column.type for column in open_table(path).columns}


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Path:
    landed(load(frame(spark, {"id": 1, "a": "x"}, schema="id int, a string"), tmp_path / "t", "Append"))
    return tmp_path / "t"


@pytest.mark.parametrize(("mode", "params"), MODES)
@pytest.mark.parametrize(
    ("row", "schema", "error"),
    [
        ({"id": 2, "a": "y", "b": 1}, "id int, a string, b int", "has no column 'b'"),
        ({"id": 2}, "id int", "the rows lack 'a'"),
        ({"id": 2, "aa": "y"}, "id int, aa string", "has no column 'aa'; the rows lack 'a'"),
        ({"id": 2, "a": 5}, "id int, a int", "column 'a' is int in the rows and string in the table"),
        ({"id": 2, "a": "y"}, "id bigint, a string", "column 'id' is bigint in the rows and int in the table"),
    ],
)
def test_columns_that_differ_are_refused_by_name_and_nothing_is_written(
    spark: SparkSession, table: Path, mode: str, params: Any, row: dict[str, Any], schema: str, error: str
) -> None:
    before = set(table.rglob("*"))

    refused = load(frame(spark, row, schema=schema), table, mode, **params)

    assert error in (refused.error or "").replace(str(table), "It")
    assert set(table.rglob("*")) == before


@pytest.mark.parametrize(("mode", "params"), [MODES[0], MODES[2]])
def test_new_and_missing_columns_are_taken_when_asked_and_old_rows_stay(
    spark: SparkSession, table: Path, mode: str, params: Any
) -> None:
    rows = frame(spark, {"id": 2, "b": 5}, schema="id int, b int")

    result = landed(load(rows, table, mode, mergeSchema="true", **params))

    assert result.version == 1  # one commit
    assert both(spark, table) == [{"id": 1, "a": "x", "b": None}, {"id": 2, "a": None, "b": 5}]
    assert result.notes == ("the rows lack a",)


def test_an_upsert_that_lacks_a_column_keeps_its_value(spark: SparkSession, table: Path) -> None:
    landed(
        load(frame(spark, {"id": 1, "b": 5}, schema="id int, b int"), table, "Upsert", mergeKeys="id", mergeSchema=True)
    )

    assert both(spark, table) == [{"id": 1, "a": "x", "b": 5}]


@pytest.mark.parametrize(("mode", "params"), MODES)
@pytest.mark.parametrize(
    ("there", "incoming", "value"),
    [
        ("bigint", "int", 7),
        ("int", "smallint", 7),
        ("double", "float", 1.5),
        ("double", "int", 7),
        ("decimal(12,4)", "decimal(10,2)", Decimal("1.5")),
        ("decimal(12,2)", "int", 7),
    ],
)
def test_a_narrower_type_becomes_the_tables_own(
    spark: SparkSession, tmp_path: Path, mode: str, params: Any, there: str, incoming: str, value: Any
) -> None:
    landed(load(spark.sql(f"SELECT 1 AS id, CAST(1 AS {there}) AS n"), tmp_path / "t", "Append"))

    rows = spark.sql(f"SELECT 2 AS id, CAST({value} AS {incoming}) AS n")
    landed(load(rows, tmp_path / "t", mode, **params))

    assert types(tmp_path / "t")["n"] == there
    assert {"id": 2, "n": value} in both(spark, tmp_path / "t")


@pytest.mark.parametrize(("mode", "params"), [MODES[0], MODES[2]])
@pytest.mark.parametrize(
    ("there", "incoming", "value"),
    [("int", "bigint", 2**40), ("float", "double", 1.1), ("decimal(5,2)", "decimal(12,4)", Decimal("123456.7891"))],
)
def test_a_wider_type_widens_the_table_when_asked_and_old_rows_stay(
    spark: SparkSession, tmp_path: Path, mode: str, params: Any, there: str, incoming: str, value: Any
) -> None:
    landed(load(spark.sql(f"SELECT 1 AS id, CAST(1 AS {there}) AS n"), tmp_path / "t", "Append"))

    rows = spark.sql(f"SELECT 2 AS id, CAST({value} AS {incoming}) AS n")
    refused = load(rows, tmp_path / "t", mode, **params)
    result = landed(load(rows, tmp_path / "t", mode, mergeSchema=True, **params))

    assert f"column 'n' is {incoming} in the rows and {there} in the table" in (refused.error or "")
    assert "Write mergeSchema: true to widen the table." in (refused.hint or "")
    assert result.notes == (f"n becomes {incoming}; it was {there}",)
    assert types(tmp_path / "t")["n"] == incoming
    assert from_spark(spark, tmp_path / "t") == [{"id": 1, "n": 1}, {"id": 2, "n": value}]
    with pytest.raises(UnreadableTableError, match="TypeWidening"):  # delta-rs cannot yet
        open_table(tmp_path / "t").to_arrow()
    landed(load(rows.selectExpr("3 AS id", "n"), tmp_path / "t", mode, mergeSchema=True, **params))


def test_a_number_that_does_not_fit_its_type_fails_and_nothing_is_written(spark: SparkSession, table: Path) -> None:
    rows = spark.sql("SELECT CAST(3000000000 AS int) AS id, 'x' AS a")

    failed = load(rows, table, "Append")

    assert not failed.success
    assert "3000000000" in (failed.error or "")
    assert open_table(table).version == 0


def test_a_decimal_that_does_not_fit_fails_and_nothing_is_written(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(spark.sql("SELECT CAST(1 AS decimal(4,2)) AS n"), tmp_path / "t", "Append"))

    failed = load(spark.sql("SELECT CAST('123.45' AS decimal(4,2)) AS n"), tmp_path / "t", "Append")

    assert not failed.success
    assert open_table(tmp_path / "t").version == 0


def test_columns_the_table_makes_itself_need_not_come(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    made = "day date GENERATED ALWAYS AS (CAST(at AS date))"
    spark.sql(f"CREATE TABLE delta.`{path}` (id int, at timestamp, {made}) USING delta")

    landed(load(spark.sql("SELECT 1 AS id, TIMESTAMP'2024-01-02 03:04:05' AS at"), path, "Append"))

    assert [str(row["day"]) for row in from_spark(spark, path)] == ["2024-01-02"]


def test_names_are_compared_as_spark_does_without_regard_to_case(spark: SparkSession, table: Path) -> None:
    landed(load(frame(spark, {"ID": 2, "A": "y"}, schema="ID int, A string"), table, "Upsert", mergeKeys="Id"))

    assert both(spark, table) == [{"id": 1, "a": "x"}, {"id": 2, "a": "y"}]


def test_a_column_of_a_struct_that_differs_is_refused_naming_both(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(spark.sql("SELECT 1 AS id, named_struct('a', 1) AS s"), tmp_path / "t", "Append"))

    refused = load(spark.sql("SELECT 1 AS id, named_struct('a', 'x') AS s"), tmp_path / "t", "Append")

    assert "column 's' is struct<a: string> in the rows and struct<a: int> in the table" in (refused.error or "")
