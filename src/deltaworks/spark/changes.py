"""Changes of a feed on their way into another table: rows that came, and rows that went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.lake.sql import quoted
from deltaworks.spark.hidden import ORDER, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from deltaworks.lake.mode import WriteMode
    from deltaworks.spark.sinks.base import Sink

FEED_COLUMNS = ("_change_type", "_commit_version", "_commit_timestamp")
GONE = "__deltaworks_gone"  # whether a row that arrives says that the one with its key went
_PRESENT = "present"
_REPLACED = "__deltaworks_replaced"
# Within one version a row that is gone, or as it was before, is older than the row that took its place. Where an
# update changed the key, nothing takes the place of the old one: it is gone.
CHANGE_ORDER = f"struct(_commit_version, _change_type NOT IN ('delete', 'update_preimage') AS {_PRESENT})"
INSERT_ORDER = "struct(_commit_version, _change_type NOT IN ('delete', 'update_preimage'))"


def arriving(rows: DataFrame, sink: Sink, mode: WriteMode) -> DataFrame:
    """The rows as they reach a sink: with `GONE` where the sink deletes by it, else only what lands."""
    if not (sink.applies_changes(mode) and _tells(rows)):
        return visible(rows)
    table = sink.target()
    there = {column.name.lower() for column in table.columns} if table else set()
    technical = [name for name in rows.columns if name.lower() in FEED_COLUMNS and name.lower() not in there]
    return visible(rows.selectExpr("*", f"NOT {ORDER}.{_PRESENT} AS {GONE}").drop(*technical))


def going(rows: DataFrame, sink: Sink, mode: WriteMode) -> str | None:
    """SQL that is true for rows that only say which one went; none where all of them are to land."""
    return f"NOT {ORDER}.{_PRESENT}" if sink.applies_changes(mode) and _tells(rows) else None


def unreplaced(rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """The rows without those in whose place the same version put another of their key: an update takes none away."""
    if not _tells(rows):
        return rows
    within = ", ".join([*map(quoted, keys), f"{ORDER}._commit_version"])
    found = rows.selectExpr("*", f"bool_or({ORDER}.{_PRESENT}) OVER (PARTITION BY {within}) AS {_REPLACED}")
    return found.where(f"{ORDER}.{_PRESENT} OR NOT {_REPLACED}").drop(_REPLACED)


def lasting(rows: DataFrame) -> DataFrame:
    """The rows that are there once all changes are applied, where nothing was there before."""
    return rows.where(f"NOT {quoted(GONE)}").drop(GONE) if GONE in rows.columns else rows


def landing(rows: DataFrame) -> DataFrame:
    """The rows without the column that tells which are gone."""
    return rows.drop(GONE) if GONE in rows.columns else rows


def require_told(rows: DataFrame, sink: Sink, mode: WriteMode, *, changes: bool) -> None:
    """Refuse rows of a feed that no longer tell which of them are gone: those would become rows."""
    if changes and sink.applies_changes(mode) and not _tells(rows):
        raise ConfigError(
            "After these transforms nobody can tell any more which rows of the feed were deleted.",
            hint="Keep _change_type and write deleteCondition: source._change_type = 'delete'; "
            "or leave deleted rows out with ignoreDeletes: true.",
        )


def _tells(rows: DataFrame) -> bool:
    return ORDER in rows.columns and _PRESENT in getattr(rows.schema[ORDER].dataType, "names", ())
