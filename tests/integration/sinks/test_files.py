from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import collected, frame

import deltaworks

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.runs.result import LoadResult


def load(
    rows: DataFrame, path: object, mode: str, kind: str = "parquet", *, options: Any = None, **params: Any
) -> LoadResult:
    inner = {"path": str(path), "format": kind, **params}
    return deltaworks.load(rows, {"sinkType": "File", "connectionParams": inner, "options": options or {}}, mode)


def read(spark: SparkSession, path: object, kind: str, schema: str) -> DataFrame:
    source = {"sourceType": "File", "connectionParams": {"format": kind, "path": str(path), "schema": schema}}
    return deltaworks.extract({**source, "options": {"header": True} if kind == "csv" else {}}, spark=spark)


KINDS = ["csv", "json", "parquet", "avro"]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_come_back_from_every_format(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    rows = frame(spark, {"id": 1, "name": "ü, 'x'"}, {"id": 2, "name": "b"})
    options = {"header": True, "inferSchema": True} if kind == "csv" else {}

    result = load(rows, tmp_path / "out", "Append", kind, options=options)

    source = {"sourceType": "File", "path": str(tmp_path / "out"), "connectionParams": {"format": kind}}
    found = deltaworks.extract({**source, "options": options}, spark=spark)
    assert (result.rows_read, result.rows_inserted, result.version) == (2, 2, None)
    assert collected(found) == [{"id": 1, "name": "ü, 'x'"}, {"id": 2, "name": "b"}]


def test_no_rows_at_all_are_a_load_of_none(spark: SparkSession, tmp_path: Path) -> None:
    result = load(frame(spark, {"id": 1}).where("false"), tmp_path / "out", "Append")

    assert (result.success, result.rows_read, result.rows_inserted) == (True, 0, 0)
    assert spark.read.parquet(str(tmp_path / "out")).columns == ["id"]


def test_append_adds_and_overwrite_replaces(spark: SparkSession, tmp_path: Path) -> None:
    load(frame(spark, {"id": 1}), tmp_path / "out", "Append")
    load(frame(spark, {"id": 2}), tmp_path / "out", "Append")
    assert collected(spark.read.parquet(str(tmp_path / "out"))) == [{"id": 1}, {"id": 2}]

    load(frame(spark, {"id": 3}), tmp_path / "out", "Overwrite")

    assert collected(spark.read.parquet(str(tmp_path / "out"))) == [{"id": 3}]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_load_that_fails_leaves_the_old_files_and_no_others(spark: SparkSession, tmp_path: Path) -> None:
    load(frame(spark, {"id": 1}), tmp_path / "out", "Append")
    late = spark.range(100, numPartitions=4).selectExpr("if(id = 99, raise_error('boom'), id) AS id")

    added = load(late, tmp_path / "out", "Append")
    result = load(late, tmp_path / "out", "Overwrite")

    assert not added.success

    assert not result.success
    assert "boom" in (result.error or "")
    assert collected(spark.read.parquet(str(tmp_path / "out"))) == [{"id": 1}]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_with_other_things_in_it_is_not_replaced(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "orders.yaml").write_text("precious")

    result = load(frame(spark, {"id": 1}), tmp_path, "Overwrite")

    assert not result.success
    assert "holds 'orders.yaml'" in (result.error or "")
    assert (tmp_path / "orders.yaml").read_text() == "precious"


def test_a_file_is_not_replaced_by_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("precious")

    result = load(frame(spark, {"id": 1}), tmp_path / "out", "Overwrite")

    assert "is a file, not a folder" in (result.error or "")
    assert (tmp_path / "out").read_text() == "precious"


@pytest.mark.parametrize("kind", KINDS)
def test_an_overwrite_replaces_partitions_whole_in_every_format(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    more: dict[str, Any] = {"partitionBy": ["day"], "compression": "snappy", "options": {"header": True}}
    old = frame(spark, {"id": 1, "day": "01"}, {"id": 2, "day": "02"})
    new = frame(spark, {"id": 3, "day": "02"}, {"id": 4, "day": None})

    load(old, tmp_path / "out", "Overwrite", kind, **more)
    result = load(new, tmp_path / "out", "Overwrite", kind, **more)

    assert (result.success, result.rows_inserted) == (True, 2)
    found = read(spark, tmp_path / "out", kind, "id BIGINT, day STRING")
    assert collected(found) == [{"id": 3, "day": "02"}, {"id": 4, "day": None}]
    assert {path.name for path in (tmp_path / "out").glob("day=*")} == {"day=02", "day=__HIVE_DEFAULT_PARTITION__"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("kind", "compression", "name"),
    [
        ("csv", "gzip", "*.csv.gz"),
        ("json", "bzip2", "*.json.bz2"),
        ("json", "none", "*c000.json"),
        ("parquet", "zstd", "*.zstd.parquet"),
        ("parquet", "none", "*c000.parquet"),
        ("avro", "zstd", "*.zstandard.avro"),
        ("avro", "none", "*c000.avro"),
    ],
)
def test_files_are_compressed_as_the_file_says(
    spark: SparkSession, tmp_path: Path, kind: str, compression: str, name: str
) -> None:
    rows = frame(spark, {"id": 1})

    assert load(rows, tmp_path / "out", "Append", kind, compression=compression, options={"header": True}).success

    assert list((tmp_path / "out").glob(name))
    assert collected(read(spark, tmp_path / "out", kind, "id BIGINT")) == [{"id": 1}]


VALUES = """SELECT TIMESTAMP'2024-01-01 01:02:03.123456' AS at, TIMESTAMP_NTZ'2024-01-01 01:02:03.654321' AS local,
 TIMESTAMP'9999-12-30 23:59:59.999999' AS late, DATE'0001-01-01' AS early, CAST(1.10 AS DECIMAL(5,2)) AS price,
 CAST('Infinity' AS DOUBLE) AS big, 'a"b\\\\,c' AS quotes, CAST(NULL AS STRING) AS none"""
TYPES = (
    "at TIMESTAMP, local TIMESTAMP_NTZ, late TIMESTAMP, early DATE, price DECIMAL(5,2), big DOUBLE, "
    "quotes STRING, none STRING"
)


@pytest.mark.parametrize("kind", KINDS)
def test_values_come_back_equal_to_the_last_microsecond(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    rows = spark.sql(VALUES)

    assert load(rows, tmp_path / "out", "Append", kind, options={"header": True}).success

    assert collected(read(spark, tmp_path / "out", kind, TYPES)) == collected(rows)


def test_the_users_own_format_of_times_counts(spark: SparkSession, tmp_path: Path) -> None:
    load(spark.sql(VALUES), tmp_path / "out", "Append", "json", options={"timestampformat": "yyyy"})

    (file,) = (tmp_path / "out").glob("*.json")
    assert '"at":"2024"' in file.read_text()


# What is refused before anything is written


@pytest.mark.parametrize(
    ("kind", "params", "said"),
    [
        ("csv", {}, "Column 'tags' is array<string>, which CSV cannot hold"),
        ("parquet", {"partitionBy": ["dy"]}, "There is no column 'dy'"),
        ("parquet", {"partitionBy": ["id", "TAGS", "raw"]}, "partitionBy names every column"),
        ("json", {"schema": "id BIGINT, tags ARRAY<STRING>"}, "columns that the schema does not have: raw"),
        ("json", {"schema": "{}, more INT"}, "columns that the rows do not have: more"),
        ("json", {"schema": "id INT, tags ARRAY<STRING>, raw BINARY"}, "Column 'id' is bigint; the schema says int"),
        (
            "json",
            {"schema": "id BIGINT, tags STRING, raw BINARY"},
            "Column 'tags' is array<string>; the schema says string",
        ),
    ],
)
def test_rows_that_do_not_fit_are_refused(
    spark: SparkSession, tmp_path: Path, kind: str, params: dict[str, Any], said: str
) -> None:
    rows = frame(spark, {"id": 1, "tags": ["a"], "raw": b"x"})
    if "schema" in params:
        params = {"schema": params["schema"].format("id BIGINT, tags ARRAY<STRING>, raw BINARY")}

    result = load(rows, tmp_path / "out", "Append", kind, **params)

    assert said in (result.error or "")
    assert not (tmp_path / "out").exists()


def test_bytes_are_refused_in_csv_because_they_would_not_come_back(spark: SparkSession, tmp_path: Path) -> None:
    result = load(frame(spark, {"raw": b"x"}), tmp_path / "out", "Append", "csv")

    assert "Column 'raw' is binary, which CSV cannot hold" in (result.error or "")


def test_a_schema_puts_columns_in_its_order_and_widens_them(spark: SparkSession, tmp_path: Path) -> None:
    rows = frame(spark, {"n": 1, "ID": 7}, schema="n INT, ID INT")
    (tmp_path / "c.ddl").write_text("id BIGINT, n INT")

    load(rows, tmp_path / "out", "Append", "csv", schemaName=str(tmp_path / "c.ddl"), options={"header": True})

    (file,) = (tmp_path / "out").glob("*.csv")
    assert file.read_text() == "id,n\n7,1\n"


def test_an_avro_schema_names_what_is_written(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "c.avsc").write_text('{"type": "record", "name": "order", "fields": [{"name": "id", "type": "long"}]}')

    load(spark.range(1, numPartitions=1), tmp_path / "out", "Append", "avro", schemaName=str(tmp_path / "c.avsc"))

    (file,) = (tmp_path / "out").glob("*.avro")
    assert b'"name":"order"' in file.read_bytes()


# Paths


@pytest.mark.parametrize("name", ["a b", "a[1]{x}*", "50%"])
def test_a_folder_of_any_name_is_added_to_and_replaced(spark: SparkSession, tmp_path: Path, name: str) -> None:
    for mode in ("Append", "Append", "Overwrite"):
        assert load(frame(spark, {"id": 1}), tmp_path / name, mode, "json").success

    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert sum(path.read_text().count("id") for path in (tmp_path / name).glob("*.json")) == 1


def test_a_uri_means_the_same_folder_in_every_mode(spark: SparkSession, tmp_path: Path) -> None:
    for mode in ("Append", "Overwrite"):
        load(frame(spark, {"id": 1}), f"file://{tmp_path}/a%20b", mode)

    assert [path.name for path in tmp_path.iterdir()] == ["a b"]


def test_files_can_be_replaced_by_what_is_made_of_them(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    load(frame(spark, {"id": 1}, {"id": 2}), tmp_path / "data", "Append")
    ends = {"connectionParams": {"format": "parquet", "path": "data"}}
    pipeline = {
        "pipelineId": "shrink",
        "extract": {"sourceType": "File", **ends},
        "transform": [{"type": "filter", "parameters": {"condition": "id > 1"}}],
        "load": {"sinkType": "File", **ends},
        "writeMode": "Overwrite",
    }

    assert deltaworks.run(pipeline, spark=spark).load.rows_inserted == 1
    assert collected(spark.read.parquet(str(tmp_path / "data"))) == [{"id": 2}]


def test_files_cannot_be_upserted(spark: SparkSession, tmp_path: Path) -> None:
    result = load(frame(spark, {"id": 1}), tmp_path / "out", "Upsert")

    assert (result.success, result.error) == (False, "load: Files cannot be upserted.")
    assert not (tmp_path / "out").exists()
