"""Files of every format: which are read, with which columns, and what is said where there are none."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import both, collected, frame

import deltaworks
from deltaworks import failpoints
from deltaworks.errors import ConfigError, DeltaworksError, RunError
from deltaworks.lake.ddl import schema_of
from deltaworks.lake.log import Log

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def extract(
    spark: SparkSession, path: object, kind: str = "csv", *, options: dict[str, Any] | None = None, **params: Any
) -> DataFrame:
    """The rows of files; CSV has a header."""
    said = ({"header": True} if kind == "csv" else {}) | (options or {})
    inner = {"format": kind, "path": str(path), **params}
    return deltaworks.extract({"sourceType": "File", "connectionParams": inner, "options": said}, spark=spark)


def put(folder: Path, **files: str | bytes) -> Path:
    """Files of a folder, by their names with `__` for `/` and `_csv` for `.csv`."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_csv", ".csv").replace("_json", ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


# Which files


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("*.csv", "ab"),
        ("{a,b}.csv", "ab"),
        ("[^a].csv", "b"),
        ("day-*/part-?.csv", "de"),
        ("day-{1/part-1,2/part-2}.csv", "de"),
        ("day-1", "d"),
        ("", "ab"),
    ],
)
def test_a_pattern_reads_every_file_it_matches(spark: SparkSession, tmp_path: Path, path: str, expected: str) -> None:
    put(tmp_path, a_csv="id\na\n", b_csv="id\nb\n")
    (tmp_path / "day-1").mkdir()
    (tmp_path / "day-1/part-1.csv").write_text("id\nd\n")
    (tmp_path / "day-2").mkdir()
    (tmp_path / "day-2/part-2.csv").write_text("id\ne\n")

    assert [row["id"] for row in collected(extract(spark, tmp_path / path))] == list(expected)


def test_options_choose_files_as_spark_does(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, a_csv="id\n1\n", deep__b_csv="id\n2\n", deep__c_json='{"id": 3}\n')

    deep = extract(spark, tmp_path, options={"recursiveFileLookup": True, "pathGlobFilter": "*.csv"})
    late = {"modifiedAfter": "2999-01-01T00:00:00"}

    assert collected(deep) == [{"id": "1"}, {"id": "2"}]
    for params in ({}, {"schema": "id int"}):
        with pytest.raises(ConfigError, match="There is nothing to read at"):
            extract(spark, tmp_path, options=late, **params)


@pytest.mark.parametrize("name", ["a[1]{x}", "a b%20", "st*r?"])
def test_special_signs_are_plain_after_a_backslash(spark: SparkSession, tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "a.csv").write_text("id\n1\n")
    escaped = "".join(f"\\{sign}" if sign in "[]{}*?" else sign for sign in name)

    assert collected(extract(spark, f"{tmp_path}/{escaped}")) == [{"id": "1"}]


def test_a_uri_of_a_local_file_is_read(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a b.csv").write_text("id\n1\n")

    assert collected(extract(spark, f"file://{tmp_path}/a%20b.csv")) == [{"id": "1"}]


def test_compressed_files_are_read_by_their_names(spark: SparkSession, tmp_path: Path) -> None:
    import bz2
    import gzip

    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"id\n1\n"))
    (tmp_path / "b.csv.bz2").write_bytes(bz2.compress(b"id\n2\n"))

    assert collected(extract(spark, tmp_path)) == [{"id": "1"}, {"id": "2"}]


@pytest.mark.parametrize("schema", [{}, {"schema": "id int"}])
@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "avro"])
@pytest.mark.parametrize("name", ["nothing", "nothing*", "empty", "done", "subfolders"])
def test_a_path_without_files_is_refused(
    spark: SparkSession, tmp_path: Path, name: str, kind: str, schema: dict[str, Any]
) -> None:
    (tmp_path / "empty").mkdir()
    put(tmp_path, done___SUCCESS="", subfolders__a__b_csv="id\n1\n")

    with pytest.raises(ConfigError, match=f"extract: There is nothing to read at .*{name[:7]}"):
        extract(spark, tmp_path / name, kind, **schema)


def test_files_without_content_have_no_rows_but_need_a_schema(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, a_csv="")

    assert collected(extract(spark, tmp_path, schema="id int")) == []
    with pytest.raises(ConfigError, match="are empty and tell no columns"):
        extract(spark, tmp_path)


# Once


def run(spark: SparkSession, tmp_path: Path) -> int:
    """Upsert, which looks at its rows twice, with something happening in between."""
    pipeline = {
        "pipelineId": "copy",
        "extract": {"sourceType": "File", "connectionParams": {"format": "json", "path": str(tmp_path / "in")}},
        "load": {"sinkType": "DeltaLake", "connectionParams": {"path": str(tmp_path / "out"), "mergeKeys": "id"}},
        "writeMode": "Upsert",
    }
    return deltaworks.run(pipeline, spark=spark).load.rows_inserted


def between(monkeypatch: pytest.MonkeyPatch, act: Any) -> None:
    monkeypatch.setattr(failpoints, "reach", lambda name: act() if name == "before_commit" else None)


def test_a_file_that_comes_while_a_run_is_under_way_is_left_for_the_next(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "in", a_json='{"id": 1}\n{"id": 2}\n')
    between(monkeypatch, lambda: put(tmp_path / "in", b_json='{"id": 1}\n{"id": 3}\n'))

    assert run(spark, tmp_path) == 2
    assert both(spark, tmp_path / "out") == [{"id": 1}, {"id": 2}]


def test_a_file_that_goes_while_a_run_is_under_way_fails_it_by_name(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "in", a_json='{"id": 1}\n', b_json='{"id": 2}\n')
    between(monkeypatch, (tmp_path / "in/b.json").unlink)

    with pytest.raises(RunError, match=r"in/b\.json is gone since the files were listed"):
        run(spark, tmp_path)
    assert Log(str(tmp_path / "out")).latest() is None


# Columns


def test_without_a_schema_csv_is_text_and_types_are_found_out_when_asked(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, a_csv="id,day\n1,2024-01-31\n")

    assert extract(spark, tmp_path).dtypes == [("id", "string"), ("day", "string")]
    assert extract(spark, tmp_path, options={"inferSchema": True}).dtypes == [("id", "int"), ("day", "date")]
    assert extract(spark, tmp_path, options={"header": False}).columns == ["_c0", "_c1"]


def evolved(spark: SparkSession, folder: Path, kind: str, *rows: str) -> Path:
    """Files of one row each, of which every one has its own columns."""
    for number, columns in enumerate(rows):
        each = folder / f"{number} [{kind}]%"
        spark.sql(f"SELECT {columns}").write.format(kind).save(str(each))
        [path] = each.glob(f"*.{kind}")
        path.rename(folder / f"{number} [a]{{b}}%20.{kind}")
        shutil.rmtree(each)
    return folder


@pytest.mark.parametrize("kind", ["parquet", "avro"])
def test_without_a_schema_a_column_is_read_that_only_some_files_have(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    evolved(spark, tmp_path / "in", kind, "1 AS id", "2 AS id, 'x' AS note", "3 AS id, 2.5D AS price")

    rows = extract(spark, tmp_path / "in", kind)

    assert rows.dtypes == [("id", "int"), ("note", "string"), ("price", "double")]
    assert collected(rows) == [
        {"id": 1, "note": None, "price": None},
        {"id": 2, "note": "x", "price": None},
        {"id": 3, "note": None, "price": 2.5},
    ]
    assert extract(spark, tmp_path / "in", kind, schema="id INT").columns == ["id"]


@pytest.mark.parametrize("kind", ["parquet", "avro"])
def test_columns_of_all_files_are_found_beside_partitions_too(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    evolved(spark, tmp_path / "in/day=1", kind, "1 AS id")
    evolved(spark, tmp_path / "in/day=x", kind, "2 AS id, 'x' AS note")

    rows = extract(spark, tmp_path / "in", kind)
    named = extract(spark, tmp_path / "in/day=*/*", kind, options={"basePath": str(tmp_path / "in")})

    assert rows.dtypes == named.dtypes == [("id", "int"), ("note", "string"), ("day", "string")]
    assert collected(rows) == [{"id": 1, "note": None, "day": "1"}, {"id": 2, "note": "x", "day": "x"}]


@pytest.mark.parametrize(
    ("kind", "told"),
    [("parquet", r"do not agree on the types .*INT.*STRING"), ("avro", r"Column 'n' is string in .*/1 .* and int in")],
)
def test_a_column_that_is_not_of_one_type_needs_a_schema(
    spark: SparkSession, tmp_path: Path, kind: str, told: str
) -> None:
    evolved(spark, tmp_path / "in", kind, "1 AS id, 1 AS n", "2 AS id, 'x' AS n")

    with pytest.raises(ConfigError, match=told) as caught:
        extract(spark, tmp_path / "in", kind)

    assert "Give a schema" in caught.value.hint


@pytest.mark.parametrize("kind", ["parquet", "avro"])
def test_a_column_that_grew_is_read_with_a_schema(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    evolved(spark, tmp_path / "in", kind, "1 AS id", "5000000000L AS id")

    with pytest.raises(ConfigError, match=r"(?i)bigint"):
        extract(spark, tmp_path / "in", kind)
    assert collected(extract(spark, tmp_path / "in", kind, schema="id BIGINT")) == [{"id": 1}, {"id": 5000000000}]


def test_options_may_say_that_one_file_tells_the_columns(spark: SparkSession, tmp_path: Path) -> None:
    evolved(spark, tmp_path / "in", "parquet", "1 AS id", "2 AS id, 'x' AS note")

    assert extract(spark, tmp_path / "in", "parquet", options={"mergeschema": False}).columns == ["id"]


DDL = "id BIGINT, name STRING, at TIMESTAMP, price DECIMAL(5,2), tags ARRAY<STRING>, inner STRUCT<x: INT>"
VALUES = "1L, 'ü', timestamp'2024-01-01 01:02:03.123456', 1.25BD, array('a'), named_struct('x', 7)"


@pytest.mark.parametrize("kind", ["json", "parquet", "avro"])
def test_a_schema_in_the_pipeline_file_or_beside_it_gives_the_same_rows(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    empty = spark.createDataFrame([], DDL)
    rows = empty.unionAll(spark.sql(f"SELECT {VALUES}"))
    sink = {"sinkType": "File", "connectionParams": {"format": kind, "path": str(tmp_path / "in")}}
    assert deltaworks.load(rows, sink, "Append").success
    (tmp_path / "c.ddl").write_text(DDL)
    (tmp_path / "c.json").write_text(empty.schema.json())

    written = extract(spark, tmp_path / "in", kind, schema=DDL)
    kept = [extract(spark, tmp_path / "in", kind, schemaName=str(tmp_path / name)) for name in ("c.ddl", "c.json")]

    assert [each.dtypes for each in (written, *kept)] == [empty.dtypes] * 3
    assert collected(written) == collected(kept[0]) == collected(kept[1]) == collected(rows)


@pytest.mark.parametrize(
    "text",
    [
        DDL,
        "a TINYINT, b BYTE, c SMALLINT, d SHORT, e INT, f INTEGER, g BIGINT, h LONG, i FLOAT, j REAL, k DOUBLE",
        "a BOOLEAN, b BINARY, c DATE, d TIMESTAMP_LTZ, e TIMESTAMP_NTZ, f VARIANT, g DEC, h NUMERIC(7)",
        "a INT NOT NULL COMMENT 'it''s', `b``c d`: MAP<STRING, ARRAY<STRUCT<x: INT NOT NULL, y DATE>>>",
    ],
)
def test_sql_types_are_read_as_spark_reads_them(spark: SparkSession, text: str) -> None:
    assert schema_of(text) == json.loads(spark.createDataFrame([], text).schema.json())


def test_an_avro_schema_gives_columns_that_old_files_lack(spark: SparkSession, tmp_path: Path) -> None:
    frame(spark, {"id": 1}).write.format("avro").save(str(tmp_path / "in"))
    (tmp_path / "c.avsc").write_text(
        '{"type": "record", "name": "topLevelRecord", "fields": [{"name": "id", "type": ["long", "null"]},'
        ' {"name": "note", "type": "string", "default": "none"}]}'
    )

    found = extract(spark, tmp_path / "in", "avro", schemaName=str(tmp_path / "c.avsc"))

    assert collected(found) == [{"id": 1, "note": "none"}]


def test_what_only_spark_can_know_of_a_schema_is_told_by_the_plan(spark: SparkSession, tmp_path: Path) -> None:
    frame(spark, {"id": 1}).write.format("avro").save(str(tmp_path / "in"))
    (tmp_path / "c.avsc").write_text('{"type": "record", "name": "x", "fields": [{"name": "id", "type": "lng"}]}')

    with pytest.raises(DeltaworksError, match="extract: ") as caught:
        extract(spark, tmp_path / "in", "avro", schemaName=str(tmp_path / "c.avsc"))

    assert "lng" in str(caught.value)


def test_partition_values_have_the_types_of_the_schema(spark: SparkSession, tmp_path: Path) -> None:
    rows = frame(spark, {"id": 1, "code": "007"}, {"id": 2, "code": "a b/%ü"}, {"id": 3, "code": None})
    rows.write.partitionBy("code").format("csv").option("header", True).save(str(tmp_path / "in"))

    found = extract(spark, tmp_path / "in", schema="id INT, code STRING")
    one = extract(spark, tmp_path / "in/code=007", options={"basePath": str(tmp_path / "in")})

    assert collected(found) == [{"id": 1, "code": "007"}, {"id": 2, "code": "a b/%ü"}, {"id": 3, "code": None}]
    assert collected(one) == [{"id": "1", "code": 7}]  # Spark's guess where nothing is said


def test_a_partition_value_that_does_not_fit_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, **{"day=x__a_csv": "id\n1\n"})

    with pytest.raises(RunError, match="Failed to cast value 'x'"):
        extract(spark, tmp_path, schema="id INT, day DATE")


# Damaged files


def test_a_damaged_file_is_named(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, a_csv="no parquet", b_csv=b"\x1f\x8bnot gzip")
    (tmp_path / "b.csv").rename(tmp_path / "b.csv.gz")

    for kind, name in (("parquet", "a.csv"), ("avro", "a.csv"), ("csv", "b.csv.gz")):
        with pytest.raises(DeltaworksError, match=name):
            extract(spark, tmp_path / name, kind).collect()
