"""The one place where names and values become SQL text."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta


def quoted(name: str) -> str:
    """Spell a column or table name so that SQL takes it as one name, whatever it contains."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """Spell a text value as a SQL string."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def typed(text: str, kind: str) -> str | None:
    """Spell a value, given as Spark prints it, as a literal of this SQL type; none where there is no exact one.

    A timestamp is given in microseconds since 1970, because its printed form depends on a zone.
    """
    kind = re.sub(r"\(.*", "", kind)
    if kind == "string":
        return literal(text)
    if kind in _SUFFIXES and re.fullmatch(r"-?\d+(\.\d+)?", text):
        return f"{text}{_SUFFIXES[kind]}"
    if kind == "timestamp":
        return _instant(int(text))
    if kind in _PREFIXES and re.fullmatch(r"\d{4}-\d\d-\d\d( [\d:.]+)?", text):
        return f"{_PREFIXES[kind]}'{text}'"
    return None


_SUFFIXES = {"tinyint": "Y", "smallint": "S", "int": "", "bigint": "L", "decimal": "BD"}
_PREFIXES = {"date": "DATE", "timestamp_ntz": "TIMESTAMP_NTZ"}


def _instant(microseconds: int) -> str | None:
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    except OverflowError:  # Spark knows years beyond 9999
        return None
    return f"TIMESTAMP'{moment:%Y-%m-%d %H:%M:%S.%f}+00:00'" if moment.year >= 1000 else None


def same_each_time(*expressions: str) -> bool:
    """Whether expressions over one row give the same value each time, as far as their text can tell."""
    return not any(_CHANGING.search(expression) for expression in expressions)


_CHANGING = re.compile(
    r"(?i)\b(rand|randn|random|randstr|uniform|uuid|shuffle|monotonically_increasing_id|spark_partition_id|now|curdate"
    r"|input_file_\w+|unix_timestamp|user|first|first_value|last|last_value|any_value|collect_\w+|array_agg|over"
    r"|java_method|reflect|try_reflect)\s*\(|\b(current_\w+|localtimestamp|session_user|over\s+\w)"
)


def wall_clock(micros: str) -> str:
    """SQL of Spark's for a time without a zone, out of microseconds since 1970; no time zone of anybody counts."""
    return f"TIMESTAMP_NTZ'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, {micros} / 1000000BD)"
