from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tests.unit.tables import append

from deltaworks.lake.schema import Column, columns, fingerprint, type_name
from deltaworks.lake.table import open_table

if TYPE_CHECKING:
    from pathlib import Path

NESTED = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("small", pa.int8()),
        pa.field("price", pa.decimal128(10, 2)),
        pa.field("tags", pa.list_(pa.string())),
        pa.field("sizes", pa.map_(pa.string(), pa.int32())),
        pa.field("address", pa.struct([pa.field("city", pa.string()), pa.field("zip", pa.int16())])),
        pa.field("days", pa.list_(pa.struct([pa.field("at", pa.date32())]))),
    ]
)


def schema(*fields: dict[str, Any]) -> str:
    return json.dumps({"type": "struct", "fields": list(fields)})


def field(name: str, kind: Any, *, nullable: bool = True, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"name": name, "type": kind, "nullable": nullable, "metadata": metadata or {}}


def test_columns_are_named_as_sql_names_types(tmp_path: Path) -> None:
    append(tmp_path, NESTED.empty_table())

    assert open_table(tmp_path).columns == (
        Column("id", "bigint", nullable=False),
        Column("small", "tinyint"),
        Column("price", "decimal(10,2)"),
        Column("tags", "array<string>"),
        Column("sizes", "map<string, int>"),
        Column("address", "struct<city: string, zip: smallint>"),
        Column("days", "array<struct<at: date>>"),
    )


def test_a_type_with_a_wrapper_of_its_own_is_named_by_what_it_wraps() -> None:
    assert type_name({"type": "long"}) == "bigint"


def test_the_fingerprint_is_a_public_format() -> None:
    assert fingerprint(schema(field("id", "long"), field("name", "string"))) == (
        "sha256:21d7c0af603c3cc07fef2252acb0ba87ccc2c3590e9bb858cc643c16a9787499"
    )


def test_nullability_and_comments_do_not_change_the_fingerprint() -> None:
    plain = schema(field("id", "long"), field("tags", {"type": "array", "elementType": "string", "containsNull": True}))
    other = schema(
        field("id", "long", nullable=False, metadata={"comment": "the key"}),
        field("tags", {"type": "array", "elementType": "string", "containsNull": False}),
    )

    assert fingerprint(plain) == fingerprint(other)


def test_names_types_and_order_change_the_fingerprint() -> None:
    schemas = [
        schema(field("id", "long"), field("name", "string")),
        schema(field("name", "string"), field("id", "long")),
        schema(field("id", "integer"), field("name", "string")),
        schema(field("key", "long"), field("name", "string")),
        schema(field("id", "long")),
        schema(field("id", {"type": "array", "elementType": "long"}), field("name", "string")),
    ]

    assert len({fingerprint(each) for each in schemas}) == len(schemas)


def test_columns_lists_what_the_text_holds() -> None:
    assert columns(schema(field("id", "long", nullable=False))) == (Column("id", "bigint", nullable=False),)
