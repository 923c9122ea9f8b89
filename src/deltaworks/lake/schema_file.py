"""A schema kept in a file of its own: SQL text, Spark's JSON or an Avro schema."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deltaworks.errors import ConfigError
from deltaworks.lake.ddl import SchemaTextError, require_names, schema_of, type_of
from deltaworks.lake.storage import local_path

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 1_000_000
TEXT = (".ddl", ".sql", ".txt")
AVRO = ".avsc"


@dataclass(frozen=True, slots=True)
class GivenSchema:
    """Columns and types as Spark's JSON, or as Avro's own."""

    spark: dict[str, Any] | None = None
    avro: str | None = None

    def has(self, column: str) -> bool:
        """Whether a column is there; case does not count."""
        fields = (self.spark or {}).get("fields", ())
        return any(field["name"].lower() == column.lower() for field in fields)


def read_schema(uri: str) -> GivenSchema:
    """The columns that a file says: SQL text, Spark's JSON or an Avro schema, by the end of its name."""
    path = local_path(uri)
    if path is None:
        raise SchemaFileError(uri, "it is not on this machine", hint="Keep it beside the pipeline file.")
    if path.suffix.lower() not in (*TEXT, ".json", AVRO):
        raise SchemaFileError(uri, "its name tells no format", hint=f"Known: {', '.join((*TEXT, '.json', AVRO))}.")
    text = _text(path)
    if path.suffix.lower() in TEXT:
        return _of_text(uri, text)
    return _of_json(uri, text, is_avro=path.suffix.lower() == AVRO)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise SchemaFileError(str(path), f"it is larger than {MAX_BYTES:,} bytes", hint="Is it a schema?")
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise SchemaFileError(str(path), str(error.strerror), hint="Check schemaName.") from error
    except UnicodeDecodeError as error:
        raise SchemaFileError(str(path), f"it is not UTF-8 text: {error.reason}", hint="Save it as UTF-8.") from error


def _of_text(uri: str, text: str) -> GivenSchema:
    try:
        return GivenSchema(spark=schema_of(text))
    except SchemaTextError as error:
        raise SchemaFileError(uri, str(error).rstrip("."), hint=error.hint) from error


def _of_json(uri: str, text: str, *, is_avro: bool) -> GivenSchema:
    try:
        value = json.loads(text)
        if is_avro:
            _require_record(value)
            return GivenSchema(avro=text)
        found = _struct(value)
        require_names(found["fields"])
        return GivenSchema(spark=found)
    except SchemaTextError as error:
        raise SchemaFileError(uri, str(error).rstrip("."), hint=error.hint) from error
    except (ValueError, RecursionError) as error:
        raise SchemaFileError(uri, f"it is not JSON: {error}", hint="Mend the file.") from error


def _require_record(value: Any) -> None:
    if not isinstance(value, dict) or value.get("type") != "record" or not value.get("fields"):
        raise SchemaTextError("this is no Avro record", hint='It starts as {"type": "record", "name": …, "fields": …}.')


def _struct(value: Any) -> dict[str, Any]:
    fields = value.get("fields") if isinstance(value, dict) and value.get("type") == "struct" else None
    if not isinstance(fields, list) or not fields:
        raise SchemaTextError("this is no schema of Spark's", hint="Save what `df.schema.json()` gives, or SQL text.")
    return {"type": "struct", "fields": [_field(each) for each in fields]}


def _field(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or "type" not in value:
        raise SchemaTextError(f"{json.dumps(value)[:60]} is no column", hint="A column has a name and a type.")
    rest = {"nullable": value.get("nullable", True) is not False, "metadata": {}}
    return {"name": value["name"], "type": _type(value["type"]), **rest}


def _type(value: Any) -> Any:
    match value:
        case str():
            return type_of(value)
        case {"type": "struct"}:
            return _struct(value)
        case {"type": "array", "elementType": inner}:
            return {"type": "array", "elementType": _type(inner), "containsNull": True}
        case {"type": "map", "keyType": key, "valueType": inner}:
            return {"type": "map", "keyType": _type(key), "valueType": _type(inner), "valueContainsNull": True}
    raise SchemaTextError(f"{json.dumps(value)[:60]} is no type", hint="Write a type such as long or decimal(10,2).")


class SchemaFileError(ConfigError):
    """The file that should hold a schema holds none, or is not there."""

    def __init__(self, uri: str, why: str, *, hint: str) -> None:
        super().__init__(f"The schema file {uri} cannot be used: {why[:1].lower()}{why[1:]}.", hint=hint)
