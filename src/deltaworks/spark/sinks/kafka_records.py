"""From rows to records of Kafka: a value, a key, and headers that let a second delivery be recognised."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError, RunError
from deltaworks.lake.sql import literal, quoted
from deltaworks.spark.errors import ColumnNotFoundError, translated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame

# Nulls are there, times are UTC to the microsecond: a reader need not guess.
JSON = {
    "ignoreNullFields": "false",
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
PIPELINE, RUN, ROW = "deltaworks-pipeline", "deltaworks-run", "deltaworks-row"


def json_value(columns: Sequence[str], options: Mapping[str, str]) -> str:
    """SQL for all columns as one JSON object."""
    return f"CAST(to_json(struct({_listed(columns)}), {_map(options)}) AS BINARY)"


def avro_value(columns: Sequence[str], schema: str | None) -> str:
    """SQL for all columns as one Avro record; of this schema, where there is one."""
    row = f"struct({_listed(columns)})"
    return f"to_avro({row})" if schema is None else f"to_avro({row}, {literal(schema)})"


def key_of(rows: DataFrame, columns: Sequence[str]) -> str:
    """SQL for the key: the value of one column as text, or several as one JSON object."""
    there = {name.lower(): name for name in rows.columns}
    for name in columns:
        if name.lower() not in there:
            raise ColumnNotFoundError(name, rows.columns, where="load.keyColumns")
    names = [there[name.lower()] for name in columns]
    if len(names) > 1:
        return json_value(names, JSON)
    return f"CAST({_text(quoted(names[0]), dict(rows.dtypes)[names[0]])} AS BINARY)"


def _text(column: str, kind: str) -> str:
    """SQL for a value as JSON has it, and so the same in every session; without the quotes of a text."""
    if kind in {"string", "binary"}:
        return column
    if kind.startswith(("array", "map", "struct", "variant")):
        return f"to_json({column}, {_map(JSON)})"
    around = f"to_json(struct({column} AS k), {_map(JSON)})"
    if kind.startswith("decimal"):
        # What stands behind `{"k":`, as it stands: whoever reads it as a number makes a double of it.
        return f"IF({column} IS NULL, NULL, substring({around}, 6, length({around}) - 6))"
    return f"get_json_object({around}, '$.k')"


def records(rows: DataFrame, value: str, key: str | None, facts: Mapping[str, str]) -> DataFrame:
    """The rows as records, with headers for these facts, and one that is the same for the same key and value."""
    found = rows.selectExpr(f"{key or 'CAST(NULL AS BINARY)'} AS key", f"{value} AS value")
    known = [_header(name, literal(text)) for name, text in facts.items()]
    row = _header(ROW, "sha2(concat(coalesce(key, X''), X'00', value), 256)")
    return found.selectExpr("key", "value", f"array({', '.join([*known, row])}) AS headers")


def _header(name: str, value: str) -> str:
    return f"struct({literal(name)} AS key, CAST({value} AS BINARY) AS value)"


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(map(quoted, columns))


def _map(options: Mapping[str, str]) -> str:
    return f"map({', '.join(literal(word) for pair in options.items() for word in pair)})"


@contextmanager
def sending(topic: str) -> Iterator[None]:
    """Say of a failure that what was sent before it stays."""
    try:
        yield
    except Exception as error:
        found = translated(error, "load")
        if not isinstance(found, RunError):
            raise
        hint = re.sub(r"^(Nothing was written\.|The table is as it was;) *", "", found.hint)
        found.hint = f"What was sent before stays in {topic}. {hint[:1].upper()}{hint[1:]}"
        raise found from error


def check_avro(rows: DataFrame, value: str, schema: str | None) -> None:
    """Refuse rows whose columns are not those of the schema, or of a kind that Avro does not have."""
    from pyspark.sql.functions import lit

    if schema is not None:
        _check_names(rows.columns, [str(field.get("name")) for field in json.loads(schema)["fields"]])
    # Only a row shows it; that one of nothing but nulls cannot be written does not matter.
    nulls = (lit(None).cast(field.dataType).alias(field.name) for field in rows.schema)
    try:
        rows.sparkSession.range(1).select(*nulls).selectExpr(value).collect()
    except Exception as error:
        found = translated(error, "load")
        if found is None:
            raise
        if "Cannot write null value" not in str(found):
            said = str(found).removeprefix("load: ").rstrip(".")
            hint = "Cast or rename the columns, or change the schema."
            raise ConfigError(f"The rows do not fit Avro: {said}.", hint=hint) from error


def _check_names(ours: Sequence[str], theirs: Sequence[str]) -> None:
    new = [name for name in ours if name.lower() not in {each.lower() for each in theirs}]
    missing = [name for name in theirs if name.lower() not in {each.lower() for each in ours}]
    if new or missing:
        what = f"the schema has no {new[0]!r}" if new else f"the rows have no {missing[0]!r}, which the schema has"
        raise ConfigError(f"The rows do not fit Avro: {what}.", hint="Change the schema, or the rows by a transform.")
