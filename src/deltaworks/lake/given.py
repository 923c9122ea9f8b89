"""The columns that a pipeline file says files have: written there, or in a file that it names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator

from deltaworks.lake.ddl import schema_of
from deltaworks.lake.model import Location, as_problem, problem
from deltaworks.lake.schema import fingerprint
from deltaworks.lake.schema_file import GivenSchema, read_schema

if TYPE_CHECKING:
    from collections.abc import Callable


def given(text: str | None, file: str | None) -> GivenSchema | None:
    """What is said of the columns, in either place; none where nothing is said."""
    if file is not None:
        return read_schema(file)
    return None if text is None else GivenSchema(spark=schema_of(text))


def check_given(text: str | None, file: str | None, kind: str) -> None:
    """Refuse two schemas that differ, and an Avro schema for other files."""
    kept = None if file is None else read_schema(file)
    if text is not None and kept and not _same(GivenSchema(spark=schema_of(text)), kept):
        raise problem("schema and schemaName say different columns", "Leave one of them out.")
    if kept and kept.avro and kind != "avro":
        raise problem(f"An Avro schema does not go with format: {kind}", "Name a file with SQL text, as columns.ddl.")


def _same(one: GivenSchema, other: GivenSchema) -> bool:
    return other.spark is not None and fingerprint(json.dumps(one.spark)) == fingerprint(json.dumps(other.spark))


def _checked(value: str, read: Callable[[str], object]) -> str:
    with as_problem():
        read(value)
    return value


SchemaText = Annotated[str, AfterValidator(lambda text: _checked(text, schema_of))]
"""Columns as SQL has them: `id BIGINT, name STRING`."""
SchemaFile = Annotated[Location, AfterValidator(lambda uri: _checked(uri, read_schema))]
"""The path of a file that holds columns; a relative one starts at the folder of the pipeline file."""
