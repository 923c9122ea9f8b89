"""How values of PostgreSQL's types come into Spark unchanged, and Spark's into PostgreSQL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from deltaworks.lake.sql import quoted as in_spark
from deltaworks.lake.sql import wall_clock
from deltaworks.spark.databases.base import MICROSECONDS, Reading

if TYPE_CHECKING:
    from collections.abc import Callable

# Spark reads these as what they are.
_SAME = {
    "boolean": "boolean",
    "smallint": "smallint",
    "integer": "int",
    "bigint": "bigint",
    "real": "float",
    "double precision": "double",
    "date": "date",
    "bytea": "binary",
    "text": "string",
}
# Java's driver reads a time by the zone of its machine, where it may not exist: so they come as microseconds.
_TIMES = {"timestamp with time zone": "timestamp", "timestamp without time zone": "timestamp_ntz"}
_WIDEST = 38  # digits of Spark's decimals
_OPEN = (38, 18)  # digits, and those behind the point, of a numeric without limits


def reading(name: str, column: str, kind: str) -> Reading:
    """How a column of a type is read; what Spark has no type for becomes text, as PostgreSQL spells it."""
    if kind.endswith("[]"):
        return _array(name, column, _bare(kind.removesuffix("[]")))
    if kind.startswith("numeric"):
        return _numeric(name, column, kind)
    if kind in _HOW:
        return _HOW[kind](name, column)
    bare = _bare(kind)
    if bare in _TIMES:
        becomes = _TIMES[bare]
        then = _time(becomes, in_spark(name))
        return Reading(name=name, kind=becomes, select=_micros(column), then=then, digits=_digits(kind))
    becomes = _SAME.get(bare, "string")
    return _text(name, column) if becomes == "string" else Reading(name=name, kind=becomes, select=column)


def _oid(name: str, column: str) -> Reading:
    return Reading(name=name, kind="bigint", select=f"{column}::bigint")


def _date(name: str, column: str) -> Reading:
    days = f"({column} - date '1970-01-01')"  # quicker than a date, which Java makes by way of a calendar
    return Reading(name=name, kind="date", select=days, then=f"date_from_unix_date({in_spark(name)})")


def _real(name: str, column: str) -> Reading:
    # PostgreSQL would compare it with 0.1 as a double, which no real is; a cast is left to Spark to compare.
    return Reading(name=name, kind="float", select=f"{column}::float8", then=f"CAST({in_spark(name)} AS float)")


_HOW: dict[str, Callable[[str, str], Reading]] = {"oid": _oid, "date": _date, "real": _real}


def _text(name: str, column: str) -> Reading:
    # What Spark lets the database compare is compared as Spark would: letter by letter.
    return Reading(name=name, kind="string", select=f'{column}::text COLLATE "C"')


def _bare(kind: str) -> str:
    """A type without the digits of a second that it keeps, as `timestamp(3) with time zone` has them."""
    return kind if kind.startswith("numeric") else re.sub(r"\(\d+\)", "", kind)


def _digits(kind: str) -> int:
    found = re.search(r"\((\d)\)", kind)
    return int(found[1]) if found else MICROSECONDS


def _array(name: str, column: str, element: str) -> Reading:
    if element in _TIMES:
        then = f"transform({in_spark(name)}, each -> {_time(_TIMES[element], 'each')})"
        select = _flat(column, _mapped(column, _micros("each")), "bigint[]")
        return Reading(name=name, kind=f"array<{_TIMES[element]}>", select=select, then=then)
    if element == "numeric":
        digits, behind = _OPEN
        select = _flat(column, _mapped(column, _checked("each")), f"numeric({digits},{behind})[]")
        return Reading(name=name, kind=f"array<decimal({digits},{behind})>", select=select)
    becomes, cast = _element(element)
    return Reading(name=name, kind=f"array<{becomes}>", select=_flat(column, column, cast))


def _mapped(column: str, each: str) -> str:
    """A list with every element made into another one."""
    found = f"SELECT {each} FROM unnest({column}) WITH ORDINALITY AS a(each, at) ORDER BY at"
    return f"CASE WHEN {column} IS NOT NULL THEN ARRAY({found}) END"


def _flat(column: str, value: str, kind: str) -> str:
    """A list of one dimension as a type; one of more fails the read, and its first elements are in the words."""
    words = f"left({column}::text, 60) || ' has more than one dimension: cast it to text in a query'"
    return f"(CASE WHEN array_ndims({column}) > 1 THEN ({words})::{kind} ELSE ({value})::{kind} END)::{kind}"


def _micros(time: str) -> str:
    """Microseconds since 1970: exact numbers are slow, and of times not far from now the fast ones are exact too."""
    near = f"{time} >= '1902-01-01' AND {time} < '2100-01-01'"
    fast, exact = (
        f"({seconds} * 1000000)::bigint" for seconds in (f"date_part('epoch', {time})", f"extract(epoch FROM {time})")
    )
    return f"CASE WHEN {near} THEN {fast} ELSE {exact} END"


def _time(kind: str, micros: str) -> str:
    return wall_clock(micros) if kind == "timestamp_ntz" else f"timestamp_micros({micros})"


def _element(kind: str) -> tuple[str, str]:
    if kind in _SAME:
        return _SAME[kind], f"{kind}[]"
    limits = _limits(kind)
    if limits is None or not _fits(*limits):
        return "string", "text[]"
    return f"decimal({limits[0]},{limits[1]})", f"{kind}[]"


def _numeric(name: str, column: str, kind: str) -> Reading:
    limits = _limits(kind)
    if limits is None:
        return Reading(name=name, kind=f"decimal({_OPEN[0]},{_OPEN[1]})", select=_checked(column))
    digits, behind = limits
    if not _fits(digits, behind):
        return _text(name, column)
    return Reading(name=name, kind=f"decimal({digits},{behind})", select=column)


def _limits(kind: str) -> tuple[int, int] | None:
    found = re.fullmatch(r"numeric\((\d+),(-?\d+)\)", kind)
    return (int(found[1]), int(found[2])) if found else None


def _fits(digits: int, behind: int) -> bool:
    return digits <= _WIDEST and 0 <= behind <= digits


def _checked(column: str) -> str:
    """A number without limits as one with; a value that would lose digits fails the read, and is in its words."""
    digits, behind = _OPEN
    lost = f"scale(trim_scale({column})) > {behind} OR abs({column}) >= 1e{digits - behind}"
    words = f"({column}::text || ' does not fit numeric({digits},{behind}): cast it in a query')::numeric"
    return f"(CASE WHEN {lost} THEN {words} ELSE {column} END)::numeric({digits},{behind})"


def type_for(kind: str) -> str | None:
    """The type of a new column for values of one of Spark's types; none where there is none."""
    if element := re.fullmatch(r"array<([^<>]+)>", kind):
        inner = type_for(element[1])
        return inner and f"{inner}[]"
    if kind.startswith("decimal"):
        return kind.replace("decimal", "numeric")
    return _NEW.get(kind)


_NEW = {becomes: name for name, becomes in (_SAME | _TIMES).items()} | {"tinyint": "smallint"}
