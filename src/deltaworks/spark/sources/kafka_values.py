"""Values of JSON, none of them changed on the way: Spark wraps numbers around, and reads a time of day as today."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from deltaworks.lake.sql import literal, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql.types import DataType, StructField, StructType

INFINITE = "(double('Infinity'), double('-Infinity'))"
YEARS = ("-62135596800", "253402300799")  # the years 1 to 9999, as seconds
_INFINITY = r"\b(Infinity|INF)\b"
# A date, and a time behind it that is cut off.
_DATE = (
    r"^\s*[+-]?\d{4,7}-\d{1,2}(-\d{1,2}([ T](\d{1,2}(:\d{1,2}(:\d{1,2}([.]\d*)?)?)?)?"
    r"\s*(Z|(UTC|GMT|UT)?([+-]\d{1,2}(:?\d{2}){0,2})?))?)?\s*$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """How values of JSON are read: dates and times as text first, unless the file gives them a format."""

    text: str  # SQL for the whole record
    zone: str = "UTC"  # of a time that has none
    dates: bool = True  # whether dates have no format of the file's
    times: bool = True  # whether times have none

    def asked(self, kind: DataType) -> DataType:
        """The type that Spark is asked for: a wider one, from which nothing is lost yet."""
        from pyspark.sql.types import ArrayType, MapType, ShortType, StringType, StructType

        inner = cast("Any", kind)
        match kind.typeName():
            case "byte":
                return ShortType()
            case "date" | "timestamp" if self._has_no_format(kind):
                return StringType()
            case "array":
                return ArrayType(self.asked(inner.elementType))
            case "map":
                return MapType(inner.keyType, self.asked(inner.valueType))
            case "struct":
                return StructType([self.field(each) for each in inner.fields])
        return kind

    def _has_no_format(self, kind: DataType) -> bool:
        return self.dates if kind.typeName() == "date" else self.times

    def field(self, field: StructField) -> StructField:
        """A column as Spark is asked for it."""
        from pyspark.sql.types import StructField

        return StructField(field.name, self.asked(field.dataType))

    def changes(self, kind: DataType) -> bool:
        """Whether Spark is asked for another type."""
        return bool(self.asked(kind).simpleString() != kind.simpleString())

    def value(self, kind: DataType, sql: str) -> str:
        """SQL for the value of its own type; null where it does not fit."""
        if not self.changes(kind):
            return sql
        inner = cast("Any", kind)
        match kind.typeName():
            case "array":
                return f"transform({sql}, x -> {self.value(inner.elementType, 'x')})"
            case "map":
                return f"transform_values({sql}, (k, x) -> {self.value(inner.valueType, 'x')})"
            case "struct":
                return f"IF({sql} IS NULL, NULL, {self.row(inner, sql)})"
        return _leaf(kind, sql, self.zone)

    def row(self, columns: StructType, sql: str) -> str:
        """SQL for a struct of these columns."""
        pairs = (
            f"{literal(each.name)}, {self.value(each.dataType, f'{sql}.{quoted(each.name)}')}"
            for each in columns.fields
        )
        return f"named_struct({', '.join(pairs)})"

    def odd(self, kind: DataType, sql: str, became: str) -> str | None:
        """SQL that is true where what a value became is not what was written; none where that cannot be."""
        match kind.typeName():
            case "double" | "float":
                # JSON knows no such number, but writers that have one spell it out.
                return f"({sql} IN {INFINITE} AND NOT {self.text} RLIKE {literal(_INFINITY)})"
            case "timestamp" if self.times:
                return f"({_lost(sql, became)} OR {self._year(sql, became)})"
            case "timestamp":
                return f"NOT {sql} BETWEEN timestamp_seconds({YEARS[0]}) AND timestamp_seconds({YEARS[1]})"
            case "array" | "map" | "struct":
                return self._inside(kind, sql, became)
        return _lost(sql, became) if self.changes(kind) else None

    def _inside(self, kind: DataType, sql: str, became: str) -> str | None:
        inner = cast("Any", kind)
        match kind.typeName():
            case "array":
                return self._any(inner.elementType, sql)
            case "map":
                twice = f"size(array_distinct(map_keys({sql}))) < size({sql})"
                return _or([twice, self._any(inner.valueType, f"map_values({sql})")])
        names = ((each.dataType, quoted(each.name)) for each in inner.fields)
        return _or(self.odd(each, f"{sql}.{name}", f"{became}.{name}") for each, name in names)

    def _any(self, kind: DataType, items: str) -> str | None:
        odd = self.odd(kind, "x", self.value(kind, "x"))
        return odd and f"exists({items}, x -> {odd})"

    def _year(self, sql: str, became: str) -> str:
        # In quotes it would be a year, without them seconds: the text alone does not tell.
        quotes = f"""contains({self.text}, concat('"', {sql}, '"'))"""
        return f"({became} < timestamp_seconds(1000000) AND length({sql}) BETWEEN 4 AND 6 AND {quotes})"


def values_of(text: str, options: Mapping[str, str]) -> Values:
    """How values are read with these options."""
    said = {name.lower(): value for name, value in options.items()}
    return Values(
        text=text,
        zone=said.get("timezone", "UTC"),
        dates="dateformat" not in said,
        times="timestampformat" not in said,
    )


def _lost(sql: str, became: str) -> str:
    return f"({sql} IS NOT NULL AND {became} IS NULL)"


def _or(found: Iterable[str | None]) -> str | None:
    some = [each for each in found if each]
    return f"({' OR '.join(some)})" if some else None


def _leaf(kind: DataType, sql: str, zone: str) -> str:
    match kind.typeName():
        case "date":
            return _date(sql)
        case "timestamp":
            return _time(sql, zone)
    return f"try_cast({sql} AS {kind.simpleString()})"


def _date(sql: str) -> str:
    """SQL for a date: as ISO spells it, whatever the time behind it, and with no other words."""
    usual = f"length({sql}) = 10 AND substring({sql}, 5, 1) = '-' AND substring({sql}, 8, 1) = '-'"
    return f"CASE WHEN ({usual}) OR {sql} RLIKE {literal(_DATE)} THEN try_cast({sql} AS DATE) END"


def _time(sql: str, zone: str) -> str:
    """SQL for a time: date and time of day, a date, or seconds since 1970; where it has no zone, of this one."""
    dash, colon, number = f"instr({sql}, '-')", f"instr({sql}, ':')", f"try_cast({sql} AS BIGINT)"
    local = f"convert_timezone({literal(zone)}, 'UTC', try_cast({sql} AS TIMESTAMP_NTZ))"
    moment = f"timestamp_micros(timestampdiff(MICROSECOND, TIMESTAMP_NTZ'1970-01-01', {local}))"
    zoned = f"endswith({sql}, 'Z') OR substring({sql}, {colon}) RLIKE '[-+A-Za-z]'"
    first, last = YEARS
    return (
        f"CASE WHEN {dash} > 1 AND {colon} > {dash} AND ({zoned}) THEN try_cast({sql} AS TIMESTAMP) "
        f"WHEN {dash} > 1 AND ({colon} = 0 OR {colon} > {dash}) THEN {moment} "
        f"WHEN {number} BETWEEN {first} AND {last} THEN timestamp_seconds({number}) END"
    )
