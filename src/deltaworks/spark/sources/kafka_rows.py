"""From records of Kafka to rows: decoded, each whole or told, with what is asked for beside the value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.lake.sql import literal, quoted
from deltaworks.spark.hidden import ORDER
from deltaworks.spark.unread import RECORD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame

PARSED = "__deltaworks_parsed"
MADE = "__deltaworks_made"
_ROW = "__deltaworks_row"
_WHY = "__deltaworks_why"
_BOTH = "__deltaworks_both"
LONGEST = 300  # signs of a record that are shown

NO_VALUE = "WHEN value IS NULL THEN 'it has no value (onTombstone: skip leaves such records out)' "
METADATA = ("key", "headers", "topic", "partition", "offset", "timestamp", "timestampType")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How the value of a record becomes columns."""

    parsed: Column  # what is read of it, kept in the column `PARSED`
    row: str  # SQL for the struct of its columns
    wrong: str  # SQL, the branches of a CASE: why a record cannot be read, null where it can
    columns: tuple[str, ...]
    made: Mapping[str, str] = field(default_factory=dict)  # SQL for columns that are not in the row as they land
    binary: bool = False  # its bytes are no text


def text_decoding() -> Decoding:
    """The value as text, in one column."""
    from pyspark.sql.functions import expr

    wrong = "WHEN NOT is_valid_utf8(CAST(value AS STRING)) THEN 'it is not UTF-8'"
    parsed = expr("struct(CAST(value AS STRING) AS value)")
    return Decoding(parsed=parsed, row=PARSED, wrong=wrong, columns=("value",))


def bytes_decoding() -> Decoding:
    """The value as it is, in one column."""
    from pyspark.sql.functions import expr

    return Decoding(
        parsed=expr("struct(value)"), row=PARSED, wrong="WHEN false THEN ''", columns=("value",), binary=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """Records on their way to rows."""

    records: DataFrame
    decoding: Decoding
    metadata: tuple[str, ...] = ()  # what else becomes a column
    binary_keys: bool = False

    def rows(self, *, set_aside: bool) -> DataFrame:
        """The rows; a record that cannot be read fails whoever looks at them, unless such records are set aside."""
        beside = [f"{self._metadata(name)} AS {quoted(f'_{name}')}" for name in self.metadata]
        names = [*(quoted(f"_{name}") for name in self.metadata), ORDER]
        order = f"struct(offset, timestamp, partition, topic) AS {ORDER}"
        words = literal("") if set_aside else self._told()
        told = f"CASE WHEN {self._why()} IS NULL THEN NULL ELSE {words} END"
        both = f"struct({self.decoding.row} AS {_ROW}, {MADE}, {told} AS {_WHY}) AS {_BOTH}"
        # Through a generator: Spark neither leaves it out nor parses again for a condition that follows, whichever
        # columns are wanted later.
        found = self._parsed().selectExpr(*beside, order, both).selectExpr(*names, f"inline(array({_BOTH}))")
        kept = found.where(_WHY + (" IS NULL" if set_aside else f" IS NULL OR CAST(raise_error({_WHY}) AS BOOLEAN)"))
        return kept.select(*map(self._column, self.decoding.columns), *names)

    def _column(self, name: str) -> str:
        return f"{MADE if name in self.decoding.made else _ROW}.{quoted(name)}"

    def unreadable(self) -> DataFrame:
        """The records that cannot be read, each as `reason` and `row`."""
        found = self._parsed().selectExpr("*", f"{self._why()} AS {_WHY}").where(f"{_WHY} IS NOT NULL")
        shown = "topic, partition, offset, timestamp"
        row = f"struct({shown}, {_readable('key')} AS key, {_readable('value')} AS value)"
        return found.selectExpr(f"{_WHY} AS reason", f"to_json({row}, map('timeZone', 'UTC')) AS row")

    def _parsed(self) -> DataFrame:
        made = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in self.decoding.made.items())
        # Worked out once, for the row and for the question whether it can be read.
        return self.records.select("*", self.decoding.parsed.alias(PARSED)).selectExpr("*", f"struct({made}) AS {MADE}")

    def _metadata(self, name: str) -> str:
        return "CAST(key AS STRING)" if name == "key" and not self.binary_keys else name

    def _why(self) -> str:
        """SQL that says why a record cannot be read; null where it can."""
        keys = "key" in self.metadata and not self.binary_keys
        key = "WHEN NOT is_valid_utf8(CAST(key AS STRING)) THEN 'its key is not UTF-8' " if keys else ""
        return f"CASE {key}{self.decoding.wrong} END"

    def _told(self) -> str:
        """SQL for the words of an error: where the record is, why it cannot be read, and what it says."""
        where = "'topic ', topic, ', partition ', partition, ', offset ', offset"
        text = "concat('0x', hex(value))" if self.decoding.binary else _readable("value")
        line = f"coalesce(left(regexp_replace({text}, {literal(chr(92) + 's+')}, ' '), {LONGEST}), '')"
        return f"concat({where}, {literal(RECORD)}, {self._why()}, ': ', {line})"


def _readable(column: str) -> str:
    """SQL for bytes as text, or as their numbers where they are no text."""
    text = f"CAST({column} AS STRING)"
    return f"CASE WHEN is_valid_utf8({text}) THEN {text} ELSE concat('0x', hex({column})) END"


def require_names(columns: tuple[str, ...], metadata: tuple[str, ...]) -> None:
    """Refuse metadata for whose columns the values have the names."""
    there = {name.lower() for name in columns}
    taken = next((name for name in metadata if f"_{name}".lower() in there), None)
    if taken is not None:
        raise ConfigError(
            f"The values have a column '_{taken}', the name that metadata {taken!r} would have.",
            hint=f"Leave {taken} out of metadata, or give a schema without that column.",
        )
