"""Removing files that no version in reach needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from deltaworks.errors import RefusedError
from deltaworks.lake.sql import quoted
from deltaworks.spark.errors import explained
from deltaworks.spark.stamp import configured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from deltaworks.lake.log import Log
    from deltaworks.lake.table import Table

RETENTION = "delta.deletedFileRetentionDuration"
DEFAULT = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class VacuumPlan:
    """A vacuum that has been looked at but not done."""

    log: Log
    version: int  # of the table when it was looked at
    retention_hours: int

    def to_sql(self) -> str:
        """Spell it as one statement."""
        return f"VACUUM delta.{quoted(self.log.uri)} RETAIN {self.retention_hours} HOURS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vacuumed:
    """What a vacuum removed, in files and bytes, and the version that says so."""

    version: int | None
    files_removed: int
    bytes_removed: int


def plan(table: Table, retention_hours: int) -> VacuumPlan:
    """Look whether so short a retention is safe; changes nothing."""
    require_safe(retention_hours, table.properties)
    return VacuumPlan(log=table.log, version=table.version, retention_hours=retention_hours)


def require_safe(retention_hours: int, properties: Mapping[str, str]) -> None:
    """Refuse a retention shorter than the table's own: a slow reader or writer may still need those files."""
    own = _duration(properties.get(RETENTION))
    least = DEFAULT if own is None else own
    if timedelta(hours=retention_hours) < least:
        hours = int(least.total_seconds() // 3600)
        raise RefusedError(
            f"vacuumRetentionHours is {retention_hours}, but files are kept for {hours} hours.",
            hint=f"Write at least {hours}, or first set {RETENTION} of the table to less.",
        )


def apply(plan: VacuumPlan, spark: SparkSession) -> Vacuumed:
    """Remove the files; what was removed is read back from the log."""
    conf = {
        # The default, ten thousand, is the number of tasks that list the folder, whatever its size.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "16",
        "spark.databricks.delta.vacuum.logging.enabled": "true",
    }
    with explained("vacuum"), configured(spark, conf):
        spark.sql(plan.to_sql()).collect()
    commits = {each.operation: each for each in plan.log.since(plan.version)}
    start, end = commits.get("VACUUM START"), commits.get("VACUUM END")
    return Vacuumed(
        version=end.version if end else None,
        files_removed=int(end.metrics.get("numDeletedFiles", 0)) if end else 0,
        bytes_removed=int(start.metrics.get("sizeOfDataToDelete", 0)) if start else 0,
    )


def _duration(text: str | None) -> timedelta | None:
    """An interval as table properties spell it: `interval 7 days`, `interval 1 week 12 hours`."""
    parts = re.findall(r"(\d+)\s*(week|day|hour|minute|second|millisecond)s?", (text or "").lower())
    units = {f"{unit}s": int(count) for count, unit in parts}
    return timedelta(**units) if units else None
