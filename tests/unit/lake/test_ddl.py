from __future__ import annotations

import json

import pytest

from deltaworks.errors import ConfigError
from deltaworks.lake.ddl import schema_of, type_of
from deltaworks.lake.schema import columns


def spelled(text: str) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in columns(json.dumps(schema_of(text)))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id BIGINT, name STRING", [("id", "bigint"), ("name", "string")]),
        ("id:long,n:int", [("id", "bigint"), ("n", "int")]),
        ("`a b` date", [("a b", "date")]),
        ("`a``b` byte", [("a`b", "tinyint")]),
        ("größe double", [("größe", "double")]),
        (
            "d decimal(10, 2), e dec, f NUMERIC(5)",
            [("d", "decimal(10,2)"), ("e", "decimal(10,0)"), ("f", "decimal(5,0)")],
        ),
        ("t timestamp, n timestamp_ntz", [("t", "timestamp"), ("n", "timestamp_ntz")]),
        ("v varchar(20), c char(3)", [("v", "string"), ("c", "string")]),
        ("a array<int>", [("a", "array<int>")]),
        ("m map<string, array<date>>", [("m", "map<string, array<date>>")]),
        ("s struct<x: int, y: struct<z: string>>", [("s", "struct<x: int, y: struct<z: string>>")]),
        ("s struct<x int, y boolean>", [("s", "struct<x: int, y: boolean>")]),
        ("id int NOT NULL COMMENT 'the key',\n-- more\nn int", [("id", "int"), ("n", "int")]),
    ],
)
def test_columns_are_read_as_spark_reads_them(text: str, expected: list[tuple[str, str]]) -> None:
    assert spelled(text) == expected


def test_what_must_not_be_null_and_comments_are_kept() -> None:
    first, second = schema_of(r"id int NOT NULL COMMENT 'it\'s the key', n int")["fields"]

    assert (first["nullable"], first["metadata"]) == (False, {"comment": "it's the key"})
    assert (second["nullable"], second["metadata"]) == (True, {})


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("id BIGNT", "'BIGNT' is no type", "Did you mean 'bigint'?"),
        ("id", "The text ends where the type of 'id' should be", "id BIGINT, name STRING"),
        ("id int,", "The text ends where a column should be", ""),
        ("", "The text ends where a column should be", ""),
        ("id int name string", "'name' stands where a comma or the end should be", ""),
        ("a-b int", "'-b' is no part of a column", "backticks"),
        ("id int, ID string", "Two columns are called 'id'", ""),
        ("d decimal(50)", r"'decimal\(50,0\)' is no type", "38"),
        ("d decimal(2,5)", r"'decimal\(2,5\)' is no type", ""),
        ("d decimal(x)", "'x' is no number", ""),
        ("a array<int", "The text ends where '>' should be", ""),
        ("m map<int>", "'>' stands where ',' should be", ""),
        ("s struct<>", "'>' stands where a column should be", ""),
        ("v varchar", r"The text ends where '\(' should be", ""),
        ("a " + "array<" * 5000, "too deep", ""),
    ],
)
def test_text_that_says_no_columns_is_refused(text: str, said: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        schema_of(text)

    assert hint in caught.value.hint


def test_one_type_is_read_alone() -> None:
    assert type_of("bigint") == type_of("long") == "long"
    with pytest.raises(ConfigError, match="'int' stands where"):
        type_of("int int")
