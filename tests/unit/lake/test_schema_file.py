from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from deltaworks.errors import ConfigError
from deltaworks.lake.schema import columns
from deltaworks.lake.schema_file import GivenSchema, read_schema

if TYPE_CHECKING:
    from pathlib import Path

SPARK = {
    "type": "struct",
    "fields": [
        {"name": "id", "type": "long", "nullable": False, "metadata": {}},
        {"name": "tags", "type": {"type": "array", "elementType": "string", "containsNull": True}, "nullable": True},
        {"name": "m", "type": {"type": "map", "keyType": "string", "valueType": "decimal(5,2)"}},
        {"name": "s", "type": {"type": "struct", "fields": [{"name": "x", "type": "integer"}]}},
    ],
}
AVRO = {"type": "record", "name": "order", "fields": [{"name": "id", "type": "long"}]}


def saved(folder: Path, name: str, value: Any) -> str:
    path = folder / name
    text = value if isinstance(value, str) else json.dumps(value)
    path.write_text(text, encoding="utf-8")
    return str(path)


def types(schema: GivenSchema) -> dict[str, str]:
    return {column.name: column.type for column in columns(json.dumps(schema.spark))}


@pytest.mark.parametrize("name", ["c.ddl", "c.sql", "c.txt", "C.DDL"])
def test_sql_types_are_read(tmp_path: Path, name: str) -> None:
    schema = read_schema(saved(tmp_path, name, "-- orders\nid BIGINT,\nname STRING\n"))

    assert types(schema) == {"id": "bigint", "name": "string"}
    assert schema.has("ID")
    assert not schema.has("nothing")


def test_what_spark_calls_a_schema_is_read(tmp_path: Path) -> None:
    schema = read_schema(saved(tmp_path, "c.json", SPARK))

    assert types(schema) == {
        "id": "bigint",
        "tags": "array<string>",
        "m": "map<string, decimal(5,2)>",
        "s": "struct<x: int>",
    }


def test_an_avro_schema_stays_as_it_is(tmp_path: Path) -> None:
    schema = read_schema(saved(tmp_path, "c.avsc", AVRO))

    assert schema.avro is not None
    assert json.loads(schema.avro) == AVRO
    assert not schema.has("id")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("c.ddl", "id BIGNT", r"c\.ddl cannot be used: 'BIGNT' is no type"),
        ("c.ddl", "", "text ends"),
        ("c.json", "{", "it is not JSON"),
        ("c.json", "[" * 100_000, "it is not JSON"),
        ("c.json", [], "no schema of Spark's"),
        ("c.json", {"type": "struct", "fields": []}, "no schema of Spark's"),
        ("c.json", {"type": "struct", "fields": ["id"]}, "is no column"),
        ("c.json", {"type": "struct", "fields": [{"name": "id", "type": "lng"}]}, "'lng' is no type"),
        ("c.json", {"type": "struct", "fields": [{"name": "id", "type": {"type": "udt"}}]}, "is no type"),
        ("c.json", {"type": "struct", "fields": [{"name": n, "type": "long"} for n in "aA"]}, "two columns"),
        ("c.avsc", "{", "it is not JSON"),
        ("c.avsc", {"type": "string"}, "no Avro record"),
        ("c.yaml", "id: long", "its name tells no format"),
        ("c.ddl", "x" * 1_000_001, "larger than 1,000,000 bytes"),
    ],
)
def test_a_file_that_holds_no_schema_is_refused(tmp_path: Path, name: str, value: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        read_schema(saved(tmp_path, name, value))

    assert caught.value.hint


def test_a_file_that_is_not_there_or_no_text_or_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.ddl").write_bytes(b"\xff\xfe")

    for uri, said in (
        (f"{tmp_path}/nothing.ddl", "no such file"),
        (f"{tmp_path}/c.ddl", "not UTF-8"),
        ("s3://bucket/c.ddl", "not on this machine"),
    ):
        with pytest.raises(ConfigError, match=said):
            read_schema(uri)
