"""How values of MySQL's types come into Spark unchanged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Self

from deltaworks.lake.sql import literal, wall_clock
from deltaworks.lake.sql import quoted as in_spark
from deltaworks.spark.databases.base import Reading

if TYPE_CHECKING:
    from collections.abc import Callable


class Wire(IntEnum):
    """The types of columns, by the numbers the server sends."""

    DECIMAL = 0
    TINY = 1
    SHORT = 2
    LONG = 3
    FLOAT = 4
    DOUBLE = 5
    TIMESTAMP = 7
    LONGLONG = 8
    INT24 = 9
    DATE = 10
    TIME = 11
    DATETIME = 12
    YEAR = 13
    BIT = 16
    JSON = 245
    NEWDECIMAL = 246
    GEOMETRY = 255


_UNSIGNED = 32  # a flag of a column
_BINARY_SIGNS = 63  # the character set of what is no text
_WIDEST = 38  # digits of Spark's decimals


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A column of a result, as the server describes it."""

    name: str
    kind: int
    length: int
    decimals: int
    unsigned: bool
    binary: bool

    @classmethod
    def of(cls, field: Any) -> Self:
        """Read it off the client's answer."""
        return cls(
            name=field.name,
            kind=field.type_code,
            length=field.length,
            decimals=field.scale,
            unsigned=bool(field.flags & _UNSIGNED),
            binary=field.charsetnr == _BINARY_SIGNS,
        )


def reading(column: Described, sql: str) -> Reading:
    """How a column is read; a date that is none becomes null, and what Spark has no type for becomes text."""
    return _HOW.get(column.kind, _text_or_bytes)(column, sql)


def _float(column: Described, sql: str) -> Reading:
    if column.kind == Wire.DOUBLE:
        return Reading(name=column.name, kind="double", select=sql)
    return _cast(column, f"({sql} + 0e0)", "float")  # as it is, only six digits would be sent


def _text(column: Described, sql: str) -> Reading:
    return _compared_by_spark(column, f"CAST({sql} AS CHAR)")


def _made(column: Described, sql: str) -> Reading:
    return replace(_text(column, sql), sorted_else=True)


def _compared_by_spark(column: Described, select: str) -> Reading:
    # MySQL takes 'a', 'A' and 'ä' for equal; a filter on what Spark puts together itself is not handed to it.
    return Reading(name=column.name, kind="string", select=select, then=f"concat({in_spark(column.name)}, '')")


def _text_or_bytes(column: Described, sql: str) -> Reading:
    return Reading(name=column.name, kind="binary", select=sql) if column.binary else _text(column, sql)


def _large(column: Described, sql: str) -> Reading:
    if not column.unsigned:
        return Reading(name=column.name, kind="bigint", select=sql)
    return Reading(name=column.name, kind="decimal(20,0)", select=f"CAST({sql} AS DECIMAL(20,0))")


def _decimal(column: Described, sql: str) -> Reading:
    # The length is that of the text, with a sign and a point.
    digits = column.length - (not column.unsigned) - (column.decimals > 0)
    if digits > _WIDEST:
        return _made(column, sql)
    return Reading(name=column.name, kind=f"decimal({digits},{column.decimals})", select=sql)


def _instant(column: Described, sql: str) -> Reading:
    # Seconds since 1970, which no time zone changes; 0 is the date that is none.
    micros = f"CAST(NULLIF(UNIX_TIMESTAMP({sql}), 0) * 1000000 AS SIGNED)"
    then = f"timestamp_micros({in_spark(column.name)})"
    return Reading(name=column.name, kind="timestamp", select=micros, then=then, digits=column.decimals)


def _date(column: Described, sql: str) -> Reading:
    there = f"IF(MONTH({sql}) = 0 OR DAYOFMONTH({sql}) = 0, NULL, {sql})"
    return Reading(name=column.name, kind="date", select=there)


def _wall_clock(column: Described, sql: str) -> Reading:
    # Java's driver reads such a time by the zone of its machine, where it may not exist. Of a date that is none, null.
    micros = f"TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {sql})"
    then = wall_clock(in_spark(column.name))
    return Reading(name=column.name, kind="timestamp_ntz", select=micros, then=then, digits=column.decimals)


def _shape(column: Described, sql: str) -> Reading:
    return replace(_compared_by_spark(column, f"ST_AsText({sql})"), sorted_else=True)


def _tiny(column: Described, sql: str) -> Reading:
    if column.length > 1:
        return _whole(column, sql)
    return Reading(name=column.name, kind="boolean", select=f"CAST({sql} AS SIGNED)", then=_truth(column.name))


def _truth(name: str) -> str:
    """TINYINT(1), MySQL's boolean, as one; another number in it is told, not taken for true."""
    value, words = in_spark(name), literal(f"{name} is TINYINT(1), a boolean, but a row has ")
    hint = literal("; cast it in a query to keep numbers")
    wrong = f"raise_error(concat({words}, CAST({value} AS STRING), {hint}))"
    return f"CASE WHEN {value} IS NULL OR {value} IN (0, 1) THEN {value} = 1 ELSE {wrong} END"


def _whole(column: Described, sql: str) -> Reading:
    bits = _BITS[Wire(column.kind)] + column.unsigned
    kind = next(name for most, name in _WHOLES.items() if bits <= most)
    return _cast(column, f"CAST({sql} AS SIGNED)", kind)


def _cast(column: Described, select: str, kind: str) -> Reading:
    return Reading(name=column.name, kind=kind, select=select, then=f"CAST({in_spark(column.name)} AS {kind})")


_BITS = {Wire.TINY: 8, Wire.SHORT: 16, Wire.YEAR: 16, Wire.INT24: 24, Wire.LONG: 32}
_WHOLES = {8: "tinyint", 16: "smallint", 32: "int", 64: "bigint"}


def _bits(column: Described, sql: str) -> Reading:
    number = f"CAST({sql} AS UNSIGNED)"
    if column.length == 64:
        return Reading(name=column.name, kind="decimal(20,0)", select=f"CAST({number} AS DECIMAL(20,0))")
    if column.length > 1:
        return _cast(column, number, "bigint")
    return Reading(name=column.name, kind="boolean", select=number, then=f"{in_spark(column.name)} = 1")


_HOW: dict[int, Callable[[Described, str], Reading]] = {
    Wire.TINY: _tiny,
    Wire.SHORT: _whole,
    Wire.INT24: _whole,
    Wire.LONG: _whole,
    Wire.YEAR: _whole,
    Wire.LONGLONG: _large,
    Wire.BIT: _bits,
    Wire.FLOAT: _float,
    Wire.DOUBLE: _float,
    Wire.DECIMAL: _decimal,
    Wire.NEWDECIMAL: _decimal,
    Wire.TIMESTAMP: _instant,
    Wire.DATE: _date,
    Wire.DATETIME: _wall_clock,
    Wire.TIME: _made,
    Wire.JSON: _made,
    Wire.GEOMETRY: _shape,
}


def type_for(kind: str, *, key: bool) -> str | None:
    """The type of a new column for values of one of Spark's types; none where there is none."""
    if kind.startswith("decimal"):
        return kind
    if key and kind in _AS_KEY:
        return _AS_KEY[kind]
    return _NEW.get(kind)


_AS_KEY = {"string": "varchar(255)", "binary": "varbinary(255)"}  # an index needs a length
_NEW = {
    "boolean": "boolean",
    "tinyint": "tinyint",
    "smallint": "smallint",
    "int": "int",
    "bigint": "bigint",
    "float": "float",
    "double": "double",
    "date": "date",
    "timestamp": "timestamp(6) NULL",
    "timestamp_ntz": "datetime(6)",
    "string": "longtext",
    "binary": "longblob",
}
