from __future__ import annotations

import json
from typing import Any

from deltaworks.lake.ddl import schema_of
from deltaworks.lake.schema import type_name
from deltaworks.spark.sources.kafka_columns import merged, of_table


def said(schema: Any) -> str:
    return type_name(schema).removeprefix("struct<").removesuffix(">")


def merge(there: str, sample: str) -> str:
    return said(merged(schema_of(there), schema_of(sample)))


def test_the_table_has_the_say_about_types_and_a_sample_about_what_is_new() -> None:
    assert merge("id INT, name STRING", "name BIGINT, note STRING") == "id: int, name: string, note: string"


def test_what_is_new_inside_a_struct_is_new_too() -> None:
    there = "a STRUCT<x: INT, y: ARRAY<STRUCT<z: INT>>>"
    sample = "a STRUCT<x: BIGINT, y: ARRAY<STRUCT<z: STRING, w: STRING>>, v: DOUBLE>"

    assert merge(there, sample) == "a: struct<x: int, y: array<struct<z: int, w: string>>, v: double>"


def test_a_map_of_the_table_stays_a_map() -> None:
    assert merge("tags MAP<STRING, INT>", "tags STRUCT<a: BIGINT>") == "tags: map<string, int>"


def test_a_name_in_other_letters_is_the_same_column_under_the_name_that_the_records_have() -> None:
    assert merge("Id INT, NAME STRING", "id BIGINT") == "id: int, NAME: string"


def test_a_table_tells_its_columns_but_for_those_it_makes_and_those_left_out() -> None:
    schema: dict[str, Any] = schema_of("id BIGINT NOT NULL, day DATE, _offset BIGINT, name STRING")
    schema["fields"][1]["metadata"] = {"delta.generationExpression": "CAST(at AS DATE)"}
    schema["fields"][3]["metadata"] = {"delta.columnMapping.id": 4}

    found = of_table(json.dumps(schema), without=["_Offset"])

    assert said(found) == "id: bigint, name: string"
    assert [(field["nullable"], field["metadata"]) for field in found["fields"]] == [(True, {}), (True, {})]
