"""Merging by key: which rows meet, what happens to those that do, and what is left alone."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import both, frame, stored
from tests.integration.sinks.loads import landed, load

from deltaworks.lake.table import open_table

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def upsert(rows: DataFrame, path: Path, keys: Any = "id", **params: Any) -> Any:
    return load(rows, path, "Upsert", mergeKeys=keys, **params)


def test_several_keys_identify_a_row_together(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(frame(spark, {"a": 1, "b": 1, "n": 0}, {"a": 1, "b": 2, "n": 0}), tmp_path / "t", "Append"))

    result = landed(
        upsert(frame(spark, {"a": 1, "b": 2, "n": 9}, {"a": 2, "b": 1, "n": 9}), tmp_path / "t", '["a", "b"]')
    )

    assert (result.rows_inserted, result.rows_updated) == (1, 1)
    assert both(spark, tmp_path / "t") == [{"a": 1, "b": 1, "n": 0}, {"a": 1, "b": 2, "n": 9}, {"a": 2, "b": 1, "n": 9}]


def test_names_of_columns_count_whatever_their_case(spark: SparkSession, tmp_path: Path) -> None:
    rows = frame(spark, *({"id": number, "day": f"{number}", "n": 0} for number in range(3)))
    params = {
        "partitionBy": "Day",
        "updateColumns": "N",
        "insertColumns": ["DAY", "ID", "N"],
        "onDuplicateKeys": "keepNewest",
        "orderBy": "N",
        "after": {"optimize": True},
    }
    landed(upsert(rows, tmp_path / "t", ["Id", "dAY"], **params))

    again = frame(spark, {"ID": 1, "DAY": "1", "N": 8}, {"ID": 1, "DAY": "1", "N": 9}, {"ID": 7, "DAY": "7", "N": 7})
    result = landed(upsert(again, tmp_path / "t", ["Id", "dAY"], **params))

    assert (result.rows_updated, result.rows_inserted, result.files_read, result.files_before) == (1, 1, 1, 3)
    assert [tuple(row.values()) for row in both(spark, tmp_path / "t")] == [
        (0, "0", 0),
        (1, "1", 9),
        (2, "2", 0),
        (7, "7", 7),
    ]
    assert open_table(tmp_path / "t").partition_columns == ("day",)
    assert [column.name for column in open_table(tmp_path / "t").columns] == ["id", "day", "n"]


def test_only_the_columns_asked_for_are_updated_and_inserted(spark: SparkSession, tmp_path: Path) -> None:
    schema = "id int, a string, b string"
    landed(load(frame(spark, {"id": 1, "a": "old", "b": "old"}, schema=schema), tmp_path / "t", "Append"))
    rows = frame(spark, *({"id": number, "a": "new", "b": "new", "c": 1} for number in (1, 2)))

    landed(
        upsert(
            rows.selectExpr("int(id) AS id", "a", "b", "c"),
            tmp_path / "t",
            updateColumns="a",
            insertColumns=["id", "b"],
        )
    )

    assert both(spark, tmp_path / "t") == [{"id": 1, "a": "new", "b": "old"}, {"id": 2, "a": None, "b": "new"}]


def test_a_table_that_is_made_has_the_whole_schema_but_only_the_columns_to_insert(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = frame(spark, {"id": 1, "a": "x", "b": 5, "gone": False}, {"id": 2, "a": "y", "b": 5, "gone": True})

    result = landed(upsert(rows, tmp_path / "t", insertColumns=["id", "a"], deleteCondition="source.gone"))

    assert (result.version, result.rows_read, result.rows_inserted) == (0, 2, 1)
    assert both(spark, tmp_path / "t") == [{"id": 1, "a": "x", "b": None, "gone": None}]


@pytest.mark.parametrize(
    ("params", "error", "hint"),
    [
        ({"updateColumns": "x"}, "load.updateColumns: There is no column 'x'.", "Columns there: id, n."),
        ({"insertColumns": ["id", "x"]}, "load.insertColumns: There is no column 'x'.", "Columns there: id, n."),
        ({"insertColumns": "n"}, "load.insertColumns lacks the merge key 'id'.", "Add it: a new row needs its key."),
        (
            {"onDuplicateKeys": "keepNewest", "orderBy": "x"},
            "load.orderBy: There is no column 'x'.",
            "Columns there: id, n.",
        ),
    ],
)
def test_a_column_that_is_not_there_is_refused(
    spark: SparkSession, tmp_path: Path, params: dict[str, Any], error: str, hint: str
) -> None:
    refused = upsert(frame(spark, {"id": 1, "n": 1}), tmp_path / "t", **params)

    assert (refused.error, refused.hint) == (error, hint)


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("keys", [(1, 1, 1, 2, 3, 3), (8, 8, 8, 9, 7, 7)])  # there already, and new
def test_repeated_keys_are_refused_and_named_with_their_counts(
    spark: SparkSession, tmp_path: Path, there: bool, keys: tuple[int, ...]
) -> None:
    if there:
        landed(load(frame(spark, *({"id": number, "n": 0} for number in range(4))), tmp_path / "t", "Append"))
    rows = frame(spark, *({"id": key, "n": number} for number, key in enumerate(keys)))

    refused = upsert(rows, tmp_path / "t")

    assert refused.error == (
        f'load: 2 keys are there more than once: {{"id":{keys[0]}}} 3 times, {{"id":{keys[-1]}}} 2 times.'
    )
    assert "onDuplicateKeys: keepNewest" in (refused.hint or "")
    assert not (tmp_path / "t").exists() or open_table(tmp_path / "t").version == 0
    assert list(tmp_path.rglob("*staging*")) == []


def test_of_many_repeated_keys_twenty_are_named(spark: SparkSession, tmp_path: Path) -> None:
    refused = upsert(spark.sql("SELECT id % 50 AS id FROM range(100)"), tmp_path / "t")

    assert "50 keys are there more than once" in (refused.error or "")
    assert (refused.error or "").count("2 times") == 20
    assert "and 30 more." in (refused.error or "")


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("checks", [True, False])
def test_the_newest_of_repeated_keys_is_kept_when_asked(
    spark: SparkSession, tmp_path: Path, there: bool, checks: bool
) -> None:
    if there:
        landed(load(frame(spark, {"id": 1, "at": 0, "n": 0}), tmp_path / "t", "Append"))
    rows = frame(
        spark,
        {"id": 1, "at": 5, "n": 1},
        {"id": 1, "at": 7, "n": 2},
        {"id": 1, "at": None, "n": 3},
        {"id": 2, "at": 1, "n": 4},
        {"id": 2, "at": 1, "n": 5},
    )

    result = landed(upsert(rows, tmp_path / "t", onDuplicateKeys="keepNewest", orderBy="at", checks=checks))

    found = both(spark, tmp_path / "t")
    assert found[0] == {"id": 1, "at": 7, "n": 2}
    assert (len(found), found[1]["id"]) == (2, 2)
    assert (result.rows_inserted, result.rows_updated) == ((1, 1) if there else (2, 0))
    assert result.rows_superseded == (3 if checks else 0)
    again = landed(upsert(rows, tmp_path / "t", onDuplicateKeys="keepNewest", orderBy="at", checks=checks))
    assert (again.rows_inserted, stored(tmp_path / "t")) == (0, found)


def test_a_null_key_matches_a_null_key_or_fails_as_the_file_says(spark: SparkSession, tmp_path: Path) -> None:
    schema = "a int, b int, n int"
    landed(
        load(
            frame(spark, {"a": None, "b": 1, "n": 0}, {"a": 1, "b": None, "n": 0}, schema=schema),
            tmp_path / "t",
            "Append",
        )
    )
    rows = frame(
        spark, {"a": None, "b": 1, "n": 5}, {"a": None, "b": None, "n": 5}, {"a": 7, "b": 7, "n": 5}, schema=schema
    )

    refused = upsert(rows, tmp_path / "t", ["a", "b"], onNullKeys="fail")
    result = landed(upsert(rows, tmp_path / "t", ["a", "b"]))

    assert refused.error == "load: 2 rows have a null in mergeKeys (a, b)."
    assert (result.rows_inserted, result.rows_updated) == (2, 1)
    assert result.notes == ("2 rows have a null in mergeKeys (a, b), which matches a null",)
    assert len(both(spark, tmp_path / "t")) == 4
    landed(upsert(rows, tmp_path / "t", ["a", "b"]))
    assert len(both(spark, tmp_path / "t")) == 4


def test_two_rows_with_a_null_key_are_one_key_twice(spark: SparkSession, tmp_path: Path) -> None:
    rows = frame(spark, {"id": None, "n": 1}, {"id": None, "n": 2}, schema="id int, n int")

    assert '{"id":null} 2 times' in (upsert(rows, tmp_path / "t").error or "")


def test_nan_and_negative_zero_are_one_key_each(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.sql("SELECT double(k) AS id, n FROM VALUES ('NaN', 1), ('0.0', 2), ('1.5', 3) AS t(k, n)")
    landed(load(rows, tmp_path / "t", "Append"))

    again = spark.sql("SELECT double(k) AS id, n FROM VALUES ('NaN', 10), ('-0.0', 20), ('2.5', 40) AS t(k, n)")
    result = landed(upsert(again, tmp_path / "t"))
    twice = upsert(spark.sql("SELECT double(k) AS id, 1 AS n FROM VALUES ('0.0'), ('-0.0') AS t(k)"), tmp_path / "t")

    assert (result.rows_inserted, result.rows_updated) == (1, 2)
    found = {("NaN" if math.isnan(row["id"]) else abs(row["id"])): row["n"] for row in stored(tmp_path / "t")}
    assert found == {"NaN": 10, 0.0: 20, 1.5: 3, 2.5: 40}
    assert "1 key is there more than once" in (twice.error or "")


def test_a_key_that_is_no_column_of_the_table_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(frame(spark, {"id": 1}), tmp_path / "t", "Append"))

    refused = upsert(frame(spark, {"id": 1, "other": 2}), tmp_path / "t", "other")

    assert "has no column 'other'" in (refused.error or "")


def test_trusting_the_source_leaves_out_the_look_at_it(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(frame(spark, {"id": 1, "n": 0}), tmp_path / "t", "Append"))

    result = landed(upsert(frame(spark, {"id": 1, "n": 1}, {"id": 2, "n": 1}), tmp_path / "t", checks="false"))

    assert (result.rows_inserted, result.rows_updated, result.files_read, result.files_before) == (1, 1, 1, 1)
    assert "BETWEEN" not in str(open_table(tmp_path / "t").log.commit(1).parameters)


VALUES = {
    "bigint": "id",
    "int": "int(id)",
    "smallint": "smallint(id)",
    "tinyint": "tinyint(id)",
    "decimal(10,2)": "CAST(id AS decimal(10,2))",
    "string": "lpad(id, 3, '0')",
    "date": "date_add(DATE'2024-01-01', int(id))",
    "timestamp": "timestamp_seconds(1700000000 + id)",
    "timestamp_ntz": "CAST(timestamp_seconds(1700000000 + id) AS timestamp_ntz)",
    "double": "double(id)",
    "boolean": "id > 50",
    "binary": "CAST(string(id) AS binary)",
}


@pytest.mark.parametrize("kind", VALUES)
def test_only_files_that_can_hold_a_key_are_read_whatever_its_type(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    expression = VALUES[kind]
    for start in (0, 30, 60, 90):
        part = (
            spark.range(start, start + 30).selectExpr(f"{expression} AS k", "1 AS n").dropDuplicates(["k"]).coalesce(1)
        )
        landed(load(part, tmp_path / "t", "Append"))
    before = len(stored(tmp_path / "t"))

    rows = spark.range(62, 70).selectExpr(f"{expression} AS k", "2 AS n").dropDuplicates(["k"])
    result = landed(upsert(rows, tmp_path / "t", "k"))

    skips = kind not in {"double", "boolean", "binary"}
    assert (result.files_before, result.files_read) == (4, 1 if skips else 4)
    expected = {"boolean": 3}.get(kind, 8)  # a boolean key is in three of the files
    assert (result.rows_inserted, result.rows_updated) == (0, expected)
    assert len(both(spark, tmp_path / "t")) == before


def test_a_key_of_a_narrower_type_still_finds_its_files(spark: SparkSession, tmp_path: Path) -> None:
    for start in (0, 30):
        landed(load(spark.range(start, start + 30).selectExpr("id", "1 AS n").coalesce(1), tmp_path / "t", "Append"))

    result = landed(upsert(spark.sql("SELECT int(5) AS id, 2 AS n"), tmp_path / "t"))

    assert (result.files_before, result.files_read, result.files_removed, result.rows_updated) == (2, 1, 1, 1)


def test_a_null_key_among_others_is_found_in_any_file(spark: SparkSession, tmp_path: Path) -> None:
    schema = "id int, n int"
    for ids in ((1, 2), (None, 50)):
        landed(
            load(
                frame(spark, *({"id": each, "n": 0} for each in ids), schema=schema).coalesce(1),
                tmp_path / "t",
                "Append",
            )
        )

    result = landed(upsert(frame(spark, {"id": None, "n": 9}, {"id": 1, "n": 9}, schema=schema), tmp_path / "t"))

    assert (result.rows_inserted, result.rows_updated) == (0, 2)
    assert [row["n"] for row in both(spark, tmp_path / "t")] == [9, 0, 0, 9]


@pytest.mark.parametrize("value", ["it's", "a\\b", "ü %/ {x}", "x`; DROP", "*/ --", "a\nb"])
def test_a_text_key_is_only_a_value(spark: SparkSession, tmp_path: Path, value: str) -> None:
    landed(load(frame(spark, {"id": value, "n": 1}, {"id": "z", "n": 1}), tmp_path / "t", "Append", partitionBy="id"))

    result = landed(upsert(frame(spark, {"id": value, "n": 2}), tmp_path / "t"))

    assert (result.rows_inserted, result.rows_updated, result.files_read) == (0, 1, 1)
    assert {"id": value, "n": 2} in both(spark, tmp_path / "t")


def test_only_the_partitions_of_the_batch_are_read(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(100).selectExpr("id", "concat('d', id % 5) AS day", "1 AS n")
    landed(load(rows.coalesce(1), tmp_path / "t", "Append", partitionBy="day"))

    result = landed(
        upsert(rows.where("day IN ('d0', 'd4')").selectExpr("id", "day", "2 AS n"), tmp_path / "t", ["day", "id"])
    )

    assert (result.files_before, result.files_read, result.files_removed, result.rows_updated) == (5, 2, 2, 40)
    assert "IN (d0,d4)" in str(open_table(tmp_path / "t").log.commit(1).parameters).replace("'", "")


def test_a_batch_without_rows_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(frame(spark, {"id": 1, "n": 1}), tmp_path / "t", "Append"))

    result = landed(upsert(frame(spark, {"id": 1, "n": 1}).where("id > 1"), tmp_path / "t"))

    assert (result.rows_read, result.rows_inserted, result.rows_updated) == (0, 0, 0)
    assert both(spark, tmp_path / "t") == [{"id": 1, "n": 1}]


def test_a_table_with_deletion_vectors_is_merged_into(spark: SparkSession, tmp_path: Path) -> None:
    properties = {"delta.enableDeletionVectors": "true"}
    landed(
        load(
            spark.range(100).selectExpr("id", "1 AS n").coalesce(1),
            tmp_path / "t",
            "Append",
            tableProperties=properties,
        )
    )

    result = landed(upsert(spark.range(5).selectExpr("id", "2 AS n"), tmp_path / "t"))

    assert (result.rows_updated, result.rows_inserted) == (5, 0)
    assert sum(row["n"] for row in both(spark, tmp_path / "t")) == 105


def test_rows_that_would_come_out_differently_each_time_are_the_same_at_every_look(
    spark: SparkSession, tmp_path: Path
) -> None:
    landed(load(spark.range(100).selectExpr("id", "uuid() AS n"), tmp_path / "t", "Append"))
    rows = spark.range(50, 150).selectExpr("IF(rand() < 2, id, NULL) AS id", "uuid() AS n")

    result = landed(upsert(rows, tmp_path / "t"))

    assert (result.rows_read, result.rows_inserted, result.rows_updated) == (100, 50, 50)
    assert len(both(spark, tmp_path / "t")) == 150
    assert list((tmp_path / "t").rglob("*staging*")) == []


def test_what_killed_runs_left_is_removed_once_they_must_have_ended(spark: SparkSession, tmp_path: Path) -> None:
    def upsert_anew() -> None:
        landed(upsert(spark.range(5).selectExpr("id", "uuid() AS n"), tmp_path / "t"))

    old, recent = "20200101T000000-0a1b2c3d", f"{datetime.now(UTC):%Y%m%dT%H%M%S}-0a1b2c3d"
    for run in (old, recent):
        (tmp_path / f".t.{run}.staging").mkdir()
    upsert_anew()
    for run in (old, recent):
        (tmp_path / f"t/_deltaworks/staging-{run}").mkdir(parents=True)
    upsert_anew()

    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*staging*")}
    assert left == {f".t.{recent}.staging", f"t/_deltaworks/staging-{recent}"}
