"""Do rows fit into files: can the format hold them, and are they what the pipeline file promises?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.lake.fit import compared
from deltaworks.lake.schema import columns
from deltaworks.lake.sql import quoted
from deltaworks.spark.errors import ColumnNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame

    from deltaworks.lake.schema_file import GivenSchema

NOT_IN_CSV = ("array<", "map<", "struct<", "variant", "binary")


def check_partitions(rows: DataFrame, partitions: Iterable[str]) -> None:
    """Refuse partition columns that are not there, or that leave no other column."""
    there = {name.lower() for name in rows.columns}
    wanted = {name.lower(): name for name in partitions}
    if missing := [name for lower, name in wanted.items() if lower not in there]:
        raise ColumnNotFoundError(missing[0], rows.columns)
    if there == wanted.keys():
        raise ConfigError("partitionBy names every column.", hint="Leave at least one for the files themselves.")


def check_csv(rows: DataFrame) -> None:
    """Refuse what a line of CSV cannot hold: Spark refuses some of it late, and spoils binary values."""
    wrong = next((each for each in columns(rows.schema.json()) if each.type.startswith(NOT_IN_CSV)), None)
    if wrong is not None:
        raise ConfigError(
            f"Column {wrong.name!r} is {wrong.type}, which CSV cannot hold.",
            hint="Make it text with to_json or base64, flatten it, or write another format.",
        )


def fitted(rows: DataFrame, schema: GivenSchema | None) -> DataFrame:
    """The rows with the columns of a schema, in its order; refuses rows that do not fit it."""
    if schema is None or schema.spark is None:
        return rows
    wanted = columns(json.dumps(schema.spark))
    fit = compared(columns(rows.schema.json()), wanted)
    _refuse("the schema does not have", fit.new)
    _refuse("the rows do not have", fit.missing)
    if different := (*fit.wider, *fit.wrong):
        name, incoming, there = different[0]
        raise ConfigError(
            f"Column {name!r} is {incoming}; the schema says {there}.", hint="Use a cast transform, or change it there."
        )
    widened = {each.name: each.there for each in fit.narrower}
    return rows.selectExpr(*(_as(each.name, widened.get(each.name)) for each in wanted))


def _as(name: str, kind: str | None) -> str:
    value = quoted(name) if kind is None else f"CAST({quoted(name)} AS {kind})"
    return f"{value} AS {quoted(name)}"  # spelled as the schema spells it


def _refuse(what: str, names: tuple[str, ...]) -> None:
    if names:
        raise ConfigError(f"There are columns that {what}: {', '.join(names)}.", hint="Change the schema or the rows.")
