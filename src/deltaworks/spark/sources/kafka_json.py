"""JSON values, each read whole or told: Spark on its own gives nulls for what does not fit, and stops reading early."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from deltaworks.lake.sql import literal, quoted
from deltaworks.spark.sources.kafka_rows import LONGEST, MADE, NO_VALUE, PARSED, Decoding
from deltaworks.spark.sources.kafka_values import values_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.types import StructField, StructType

    from deltaworks.spark.sources.kafka_values import Values

BAD = "__deltaworks_bad_record"
TEXT = "CAST(value AS STRING)"


def json_decoding(columns: StructType, options: Mapping[str, str]) -> Decoding:
    """One JSON object a record, with these columns."""
    from pyspark.sql.functions import expr, from_json
    from pyspark.sql.types import StringType, StructType

    own = {"timeZone": "UTC", **options, "mode": "PERMISSIVE", "columnNameOfCorruptRecord": BAD}
    values = values_of(TEXT, own)
    asked = StructType([values.field(each) for each in columns.fields]).add(BAD, StringType())
    return Decoding(
        parsed=from_json(expr(TEXT), asked, own),
        row=PARSED,
        wrong=_wrong(columns, values, _one_object(own)),
        columns=tuple(columns.names),
        made={
            each.name: values.value(each.dataType, f"{PARSED}.{quoted(each.name)}")
            for each in columns.fields
            if values.changes(each.dataType)
        },
    )


def _wrong(columns: StructType, values: Values, one: str) -> str:
    read_as = f"left(to_json({values.row(columns, PARSED)}, map('ignoreNullFields', 'false')), {LONGEST})"
    return (
        f"{NO_VALUE}"
        f"WHEN NOT is_valid_utf8({TEXT}) THEN 'it is not UTF-8' "
        f"WHEN {PARSED}.{BAD} IS NULL AND {PARSED} IS NOT NULL AND ({_flat()} OR {one}) "
        f"AND NOT {_odd(columns, values)} THEN NULL "
        f"WHEN {one} THEN concat('a value does not fit its column, it would be read as ', {read_as}) "
        f"ELSE 'it is not one JSON object'"
    )


def _odd(columns: StructType, values: Values) -> str:
    """SQL that is true where a column has a value that was not written."""
    found = [odd for each in columns.fields if (odd := _odd_column(each, values))]
    return f"coalesce({' OR '.join(found)}, false)" if found else "false"


def _odd_column(column: StructField, values: Values) -> str | None:
    place = MADE if values.changes(column.dataType) else PARSED
    name = quoted(column.name)
    return values.odd(column.dataType, f"{PARSED}.{name}", f"{place}.{name}")


def _flat() -> str:
    """SQL that is true for an object with nothing behind it, found without reading it once more.

    Spark reads one object and leaves the rest. Where the only `}` is the last sign, there is no rest.
    """
    all_but_last = "CAST(substring(value, 1, octet_length(value) - 1) AS STRING)"
    return f"(startswith({TEXT}, '{{') AND NOT contains({all_but_last}, '}}'))"


def _one_object(options: Mapping[str, str]) -> str:
    """SQL that is true for one JSON object and nothing else.

    It is put between signs of ours that no record can know. They are only found where they should
    be if all that stands between them is one object.
    """
    first, last = (secrets.token_hex(8) for _ in range(2))
    # On a line of its own, where no comment reaches, should they be allowed.
    opening, closing = literal(f'{{"{first}":['), literal(f'\n,{{"{last}":true}}]}}')
    kind = literal(f"`{first}` ARRAY<STRUCT<`{last}`: BOOLEAN>>")
    said = ", ".join(literal(word) for pair in options.items() for word in pair)
    around = f"from_json(concat({opening}, {TEXT}, {closing}), {kind}, map({said})).`{first}`"
    return f"({around} <=> array(struct(CAST(NULL AS BOOLEAN) AS `{last}`), struct(true AS `{last}`)))"
