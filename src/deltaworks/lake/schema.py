"""Delta schemas as both engines spell them: JSON text."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Column:
    """A column as people read it."""

    name: str
    type: str
    nullable: bool = True
    made: bool = False  # the table makes a value up where rows bring none


def columns(schema_json: str) -> tuple[Column, ...]:
    """The top-level columns of a schema."""
    fields = json.loads(schema_json)["fields"]
    return tuple(
        Column(field["name"], type_name(field["type"]), field["nullable"], _is_made(field.get("metadata") or {}))
        for field in fields
    )


def _is_made(metadata: dict[str, Any]) -> bool:
    return any(key in _MADE or key.startswith("delta.identity.") for key in metadata)


_MADE = {"delta.generationExpression", "CURRENT_DEFAULT"}


def fingerprint(schema_json: str) -> str:
    """A hash of names, types and order: equal from Spark and from delta-rs for the same columns."""
    text = json.dumps(_canonical(json.loads(schema_json)), separators=(",", ":"), sort_keys=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def type_name(kind: Any) -> str:
    """Spell a type as SQL does: `array<int>`, `struct<a: string>`."""
    if isinstance(kind, str):
        return {"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint"}.get(kind, kind)
    match kind["type"]:
        case "array":
            return f"array<{type_name(kind['elementType'])}>"
        case "map":
            return f"map<{type_name(kind['keyType'])}, {type_name(kind['valueType'])}>"
        case "struct":
            inner = (f"{field['name']}: {type_name(field['type'])}" for field in kind["fields"])
            return f"struct<{', '.join(inner)}>"
    return type_name(kind["type"])


def _canonical(node: Any) -> Any:
    # Nullability and metadata differ between engines for the same data, so they do not count.
    if isinstance(node, list):
        return [_canonical(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: _canonical(value) for key, value in node.items() if key in _STRUCTURE}


_STRUCTURE = {"type", "fields", "name", "elementType", "keyType", "valueType"}
