"""The two ways a batch meets a Delta table, decided; each writes once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from deltaworks.lake.sql import quoted
from deltaworks.spark.counting import counted
from deltaworks.spark.stamp import stamped, write_options
from deltaworks.spark.statement import ROWS, run_over

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from deltaworks.lake.commit import Commit
    from deltaworks.lake.merge import MergePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Save:
    """Write the rows as new files of the table, which is made when it is not there."""

    path: str
    mode: Literal["append", "overwrite", "errorifexists"]
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    keep: str | None = None  # rows for which this is false are left out
    action: str = ""
    statement: None = None

    def write(self, rows: DataFrame, commit: Commit) -> int | None:
        """Write the rows in one commit; says how many came, where the commit itself will not."""
        if self.keep is None:
            self._save(rows, commit)
            return None
        passing, count = counted(rows)
        self._save(passing.alias("source").where(self.keep), commit)
        return count() or 0

    def _save(self, rows: DataFrame, commit: Commit) -> None:
        writer = rows.write.format("delta").mode(self.mode).options(**self.options, **write_options(commit))
        if self.partition_by:
            writer = writer.partitionBy(*self.partition_by)
        writer.save(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Merge the rows into the table by key."""

    path: str
    plan: MergePlan
    action: str = ""

    @property
    def statement(self) -> str:
        """The MERGE as people read it."""
        return self.plan.to_sql(self._target, "the rows")

    def write(self, rows: DataFrame, commit: Commit) -> None:
        """Merge the rows in one commit."""
        with stamped(rows.sparkSession, commit):
            run_over(rows, self.plan.to_sql(self._target, ROWS))

    @property
    def _target(self) -> str:
        return f"delta.{quoted(self.path)}"
