"""The columns of JSON values where the file gives none: those of the target table, or found out from a sample."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deltaworks.errors import ConfigError
from deltaworks.lake.ddl import SchemaTextError, require_names, type_of
from deltaworks.lake.schema import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import SparkSession

Json = dict[str, Any]


def of_table(schema_json: str, *, without: Iterable[str]) -> Json:
    """The columns of a table as Spark's JSON, but for some, and for those whose values the table makes itself."""
    left_out = {name.lower() for name in without} | {each.name.lower() for each in columns(schema_json) if each.made}
    fields = json.loads(schema_json)["fields"]
    return {"type": "struct", "fields": [_bare(each) for each in fields if each["name"].lower() not in left_out]}


def _bare(field: Json) -> Json:
    return {"name": field["name"], "type": field["type"], "nullable": True, "metadata": {}}


def found_out(spark: SparkSession, sample: Sequence[str], options: Mapping[str, str]) -> Json | None:
    """The columns that Spark finds in a sample of JSON objects; none where they have none."""
    from pyspark.sql.functions import lit, schema_of_json

    if not any(json.loads(text) for text in sample):
        return None
    objects = f"[{','.join(sample)}]"
    ((text,),) = spark.range(1).select(schema_of_json(lit(objects), dict(options))).collect()
    found: Json = type_of(text)["elementType"]
    try:
        require_names(found["fields"])
    except SchemaTextError as error:
        raise ConfigError(
            f"{str(error).rstrip('.')} in the sampled records, which Spark takes for one.", hint="Give a schema."
        ) from error
    return found


def unseen(there: Json, sample: Iterable[str]) -> list[str]:
    """The columns of a table that no object of a sample has."""
    seen = {name.lower() for text in sample for name in json.loads(text)}
    return [field["name"] for field in there["fields"] if field["name"].lower() not in seen]


def merged(there: Json, sample: Json) -> Json:
    """The columns there are, with the types they have, and those that are new in a sample.

    JSON's names are exact, a table's are not: where a sample writes a name in other letters, that is its name.
    """
    ours = {field["name"].lower(): field for field in sample["fields"]}
    kept = [_merged(field, ours.get(field["name"].lower())) for field in there["fields"]]
    names = {field["name"].lower() for field in kept}
    return {"type": "struct", "fields": [*kept, *(field for name, field in ours.items() if name not in names)]}


def _merged(there: Json, ours: Json | None) -> Json:
    return there if ours is None else {**there, "name": ours["name"], "type": _type(there["type"], ours["type"])}


def _type(there: Any, ours: Any) -> Any:
    """The table's type; a struct gets what is new in it, wherever it is."""
    match there, ours:
        case {"type": "struct"}, {"type": "struct"}:
            return merged(there, ours)
        case {"type": "array", "elementType": inner}, {"type": "array", "elementType": other}:
            return {**there, "elementType": _type(inner, other)}
    return there
