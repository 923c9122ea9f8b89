"""What a file says of the values of a topic: SQL columns for JSON, or a schema of Avro's."""

from __future__ import annotations

import json

from deltaworks.lake.ddl import schema_of
from deltaworks.lake.given import check_given
from deltaworks.lake.model import as_problem, problem
from deltaworks.lake.schema_file import GivenSchema, read_schema


def check_schema(kind: str, text: str | None, file: str | None) -> None:
    """Refuse a schema that does not go with the values' format, or two that differ."""
    if kind not in {"json", "avro"}:
        if text or file:
            raise problem(f"A schema does not go with valueFormat: {kind}", "Leave it out: there is one column, value.")
        return
    if kind == "json":
        if text:
            with as_problem():
                schema_of(text)
        check_given(text, file, kind)
        return
    if text and file:
        raise problem("schema and schemaName are both given", "Leave one of them out.")
    if text:
        _require_record(text)
    if file and read_schema(file).avro is None:
        raise problem("schemaName names no Avro schema", "Name a file that ends in .avsc.")


def _require_record(text: str) -> None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    fields = found.get("fields") if isinstance(found, dict) and found.get("type") == "record" else None
    if not isinstance(fields, list) or not all(isinstance(each, dict) and each.get("name") for each in fields):
        hint = 'Write a record as JSON text: {"type": "record", "name": …, "fields": …}.'
        raise problem("schema holds no Avro schema", hint)


def schema_given(kind: str, text: str | None, file: str | None) -> GivenSchema | None:
    """What is said of the columns, in either place; none where nothing is said."""
    if file is not None:
        return read_schema(file)
    if text is None:
        return None
    return GivenSchema(avro=text) if kind == "avro" else GivenSchema(spark=schema_of(text))
