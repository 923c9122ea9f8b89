"""Avro values, each read whole or told: Avro itself does not know where a record ends."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.lake.sql import literal
from deltaworks.spark.errors import translated
from deltaworks.spark.sources.kafka_rows import NO_VALUE, PARSED, Decoding

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

HEADER = 5  # bytes: a zero, and the number of a schema
_MARK = 16  # bytes


def avro_decoding(records: DataFrame, schema: str, *, header: bool) -> Decoding:
    """One record of a schema; behind a header of five bytes where values have one.

    A mark of ours, which no record can know, stands behind each value and is read as a field of its
    own. It is only found where it should be if the value ends where the schema says.
    """
    from pyspark.sql.functions import expr

    mark = secrets.token_hex(_MARK)
    body = f"substring(value, {HEADER + 1})" if header else "value"
    options = "map('mode', 'PERMISSIVE')"
    parsed = expr(f"from_avro(concat({body}, X'{mark}'), {literal(_with_mark(schema))}, {options})")
    columns = _columns(records, parsed)
    broken = f"substring(value, 1, 1) <> X'00' OR octet_length(value) < {HEADER}" if header else "false"
    return Decoding(
        parsed=parsed,
        row=f"{PARSED}.value",
        wrong=(
            f"{NO_VALUE}"
            f"WHEN {broken} THEN 'it has no header of five bytes' "
            f"WHEN {PARSED}.value IS NULL OR {PARSED}.mark IS NULL OR {PARSED}.mark <> X'{mark}' "
            f"THEN 'it is not Avro of this schema'"
        ),
        columns=tuple(columns),
        binary=True,
    )


def _columns(records: DataFrame, parsed: Column) -> list[str]:
    try:
        return records.select(parsed.alias(PARSED)).select(f"{PARSED}.value.*").columns
    except Exception as error:
        found = translated(error, "extract")
        if found is None:
            raise
        said = str(found).removeprefix("extract: ").rstrip(".")
        raise ConfigError(f"The Avro schema cannot be used: {said}.", hint="Mend schema or schemaName.") from error


def _with_mark(schema: str) -> str:
    mark = {"type": "fixed", "name": "deltaworks_mark", "size": _MARK}
    fields = [{"name": "value", "type": json.loads(schema)}, {"name": "mark", "type": mark}]
    return json.dumps({"type": "record", "name": "deltaworks_record", "fields": fields})
