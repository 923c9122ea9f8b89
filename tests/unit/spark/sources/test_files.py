from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from deltaworks.errors import ConfigError, SetupError
from deltaworks.spark.sources import AnySource
from deltaworks.spark.sources.files import FileSource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOBODY = 65534


def source(path: object, kind: str = "File", *, options: dict[str, Any] | None = None, **params: Any) -> FileSource:
    inner = {"format": "csv", "path": str(path), **params}
    values = {"sourceType": kind, "connectionParams": inner, "options": options or {}}
    found = TypeAdapter(AnySource).validate_python(values)
    assert isinstance(found, FileSource)
    return found


@contextmanager
def as_a_plain_user() -> Iterator[None]:
    """Without the rights of root, who may read everything."""
    was = os.geteuid()
    os.seteuid(was or NOBODY)
    try:
        yield
    finally:
        os.seteuid(was)


@pytest.mark.parametrize("pattern", ["", "a.csv", "*.csv", "[ab].csv", "{a,b}.csv", "_day/*", "_day", "d=1"])
def test_a_file_a_folder_or_a_pattern_is_something_to_read(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "a.csv").touch()
    for name in ("_day", "d=1/_e=2"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "b.csv").touch()

    source(f"{tmp_path}/{pattern}").fixed()


@pytest.mark.parametrize("pattern", ["b.csv", "*.json", "b/*", "empty", "done", "_a.csv", ".a.csv", "_*"])
def test_nothing_to_read_is_refused(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "done/_temporary").mkdir(parents=True)
    for name in ("a.csv", "_a.csv", ".a.csv", "done/_SUCCESS", "done/.a.crc", "done/_temporary/a.csv"):
        (tmp_path / name).touch()

    with pytest.raises(ConfigError, match="There is nothing to read at"):
        source(tmp_path / pattern).fixed()


def test_a_path_with_special_signs_is_found_when_they_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "a[1].csv").touch()

    found = source(rf"{tmp_path}/a\[1\].csv")

    found.fixed()
    assert found.place == f"{tmp_path}/a[1].csv"
    with pytest.raises(ConfigError, match="There is nothing to read at"):
        source(tmp_path / "a[1].csv").fixed()


@pytest.mark.parametrize("uri", ["file://{}/a%20b.csv", "file:{}/a%20*.csv"])
def test_a_uri_of_a_local_file_is_something_to_read(tmp_path: Path, uri: str) -> None:
    (tmp_path / "a b.csv").touch()

    source(uri.format(tmp_path)).fixed()


def test_a_folder_that_may_not_be_read_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir(mode=0)

    with as_a_plain_user(), pytest.raises(SetupError, match="Permission denied"):
        source(tmp_path / "secret").fixed()


def test_what_is_not_local_is_left_to_spark() -> None:
    source("s3a://bucket/orders", "S3").fixed()


def test_options_are_spelled_as_spark_spells_them() -> None:
    found = source("in", options={"header": True, "sep": ";", "samplingRatio": 0.5, "maxColumns": 9})

    assert found.spark_options() == {"header": "true", "sep": ";", "samplingRatio": "0.5", "maxColumns": "9"}


@pytest.mark.parametrize("kind", ["xml", "CSV", "", None])
def test_an_unknown_format_is_refused(kind: str | None) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(AnySource).validate_python(
            {"sourceType": "File", "connectionParams": {"format": kind, "path": "in"}}
        )


def test_what_will_be_read_is_one_line() -> None:
    assert source("in.csv").describe(None) == "csv files in.csv"
    assert source("in.csv").place == "in.csv"


# Schema


def test_columns_may_be_written_as_sql_types_or_kept_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "c.ddl").write_text("id int")

    source("in", schema="id int", schemaName=str(tmp_path / "c.ddl"))
    with pytest.raises(ValidationError, match="say different columns"):
        source("in", schema="id int, n int", schemaName=str(tmp_path / "c.ddl"))


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"schema": "id BIGNT"}, "'BIGNT' is no type"),
        ({"schema": ""}, "The text ends where a column should be"),
        ({"schemaName": "nothing.ddl"}, "The schema file nothing.ddl cannot be used"),
    ],
)
def test_a_schema_that_is_none_is_refused(params: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        source("in", **params)


def test_avro_needs_jars_of_its_own() -> None:
    assert source("in", format="avro").jar_groups == {"avro"}
    assert source("in").jar_groups == frozenset()


@pytest.mark.parametrize(
    ("params", "options", "expected"),
    [
        ({"format": "parquet"}, {}, True),
        ({"format": "avro"}, {"mode": "PERMISSIVE"}, True),
        ({"format": "csv"}, {}, True),
        ({"format": "json", "schema": "id int"}, {"MODE": "failfast"}, True),
        ({"format": "json"}, {"mode": "PERMISSIVE"}, False),
        ({"format": "csv"}, {"Mode": "DROPMALFORMED"}, False),
        ({"format": "csv", "schema": "id int, _corrupt_record string"}, {}, False),
        ({"format": "csv", "schema": "id int, bad string"}, {"columnNameOfCorruptRecord": "bad"}, False),
        ({"format": "csv", "schema": "id int, bad string"}, {}, True),
    ],
)
def test_files_give_the_same_rows_again_unless_bad_records_are_let_through(
    params: dict[str, Any], options: dict[str, Any], expected: bool
) -> None:
    assert source("in", options=options, **params).repeats is expected
