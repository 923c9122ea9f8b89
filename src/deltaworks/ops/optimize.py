"""Few large files out of many small ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.lake.sql import quoted
from deltaworks.spark.errors import ColumnNotFoundError, explained
from deltaworks.spark.stamp import configured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from deltaworks.lake.log import Log
    from deltaworks.lake.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizePlan:
    """A compaction that has been looked at but not done."""

    log: Log
    version: int  # of the table when it was looked at
    files: int
    z_order: tuple[str, ...] = ()
    target_file_size: int | None = None  # in bytes; Delta's own where none is given

    def to_sql(self) -> str:
        """Spell it as one statement."""
        by = f" ZORDER BY ({', '.join(map(quoted, self.z_order))})" if self.z_order else ""
        return f"OPTIMIZE delta.{quoted(self.log.uri)}{by}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimized:
    """What a compaction did; without a version there was nothing to do."""

    version: int | None
    files_added: int
    files_removed: int
    bytes_added: int
    bytes_removed: int


def plan(table: Table, *, z_order: Sequence[str] = (), target_file_size: int | None = None) -> OptimizePlan:
    """Look whether the table can be optimized like this; changes nothing."""
    names = [column.name for column in table.columns]
    for name in z_order:
        if name.lower() not in {each.lower() for each in names}:
            raise ColumnNotFoundError(name, names, where="zOrderColumns")
        if name.lower() in {each.lower() for each in table.partition_columns}:
            raise ConfigError(
                f"zOrderColumns: {name!r} is a partition column.",
                hint="Its values have folders of their own; leave it out.",
            )
    if z_order and "clustering" in table.features:
        raise ConfigError(
            f"zOrderColumns: {table.uri} is clustered.",
            hint="Optimize keeps its clusterBy columns together; leave it out.",
        )
    return OptimizePlan(
        log=table.log,
        version=table.version,
        files=table.files.count,
        z_order=tuple(z_order),
        target_file_size=target_file_size,
    )


def apply(plan: OptimizePlan, spark: SparkSession) -> Optimized:
    """Optimize the table, in a commit of its own that carries no position."""
    conf = {"spark.databricks.delta.optimize.maxFileSize": str(plan.target_file_size)} if plan.target_file_size else {}
    with explained("optimize"), configured(spark, conf):
        metrics = spark.sql(plan.to_sql()).collect()[0]["metrics"]
    done = next((each for each in plan.log.since(plan.version) if each.operation == "OPTIMIZE"), None)
    return Optimized(
        version=done.version if done else None,
        files_added=metrics["numFilesAdded"],
        files_removed=metrics["numFilesRemoved"],
        bytes_added=metrics["filesAdded"]["totalSize"],
        bytes_removed=metrics["filesRemoved"]["totalSize"],
    )
