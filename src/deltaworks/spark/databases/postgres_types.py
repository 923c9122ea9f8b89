"""How values of PostgreSQL's types come into Spark unchanged."""

from __future__ import annotations

import re

from deltaworks.spark.databases.base import Reading

# Spark reads these as what they are.
_SAME = {
    "boolean",
    "smallint",
    "integer",
    "bigint",
    "real",
    "double precision",
    "date",
    "bytea",
    "text",
    "timestamp with time zone",
    "timestamp without time zone",
}
_WIDEST = 38  # digits of Spark's decimals
_OPEN = (38, 18)  # digits, and those behind the point, of a numeric without limits


def reading(name: str, column: str, kind: str) -> Reading:
    """How a column of a type is read; what Spark has no type for becomes text, as PostgreSQL spells it."""
    base, _, _ = kind.removesuffix("[]").partition("(")
    bare = re.sub(r"\(\d+\)", "", kind.removesuffix("[]"))  # timestamp(3) with time zone
    if kind.endswith("[]"):
        return Reading(name=name, select=f"{column}{_array(bare)}")
    if base == "numeric":
        return Reading(name=name, select=_numeric(column, kind))
    if kind == "oid":
        return Reading(name=name, select=f"{column}::bigint")
    return Reading(name=name, select=column if bare in _SAME else f"{column}::text")


def _array(element: str) -> str:
    if element.startswith("numeric("):
        return ""
    if element == "numeric":
        return f"::numeric{_OPEN}[]"
    return "" if element in _SAME else "::text[]"


def _numeric(column: str, kind: str) -> str:
    limits = re.fullmatch(r"numeric\((\d+),(-?\d+)\)", kind)
    if limits is None:
        return _checked(column)
    digits, behind = int(limits[1]), int(limits[2])
    return column if digits <= _WIDEST and 0 <= behind <= digits else f"{column}::text"


def _checked(column: str) -> str:
    """A number without limits as one with; a value that would lose digits fails the read, and is in its words."""
    digits, behind = _OPEN
    lost = f"scale(trim_scale({column})) > {behind} OR abs({column}) >= 1e{digits - behind}"
    words = f"({column}::text || ' does not fit numeric({digits},{behind}): cast it in a query')::numeric"
    return f"(CASE WHEN {lost} THEN {words} ELSE {column} END)::numeric({digits},{behind})"
