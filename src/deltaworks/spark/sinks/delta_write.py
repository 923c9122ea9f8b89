"""The ways a batch meets a Delta table, decided; each writes once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from deltaworks.lake.sql import literal, quoted
from deltaworks.spark.conf import MARKED_APPEND
from deltaworks.spark.counting import counted
from deltaworks.spark.stamp import configured, stamp_conf, write_options
from deltaworks.spark.statement import ROWS, run_over

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

    from deltaworks.lake.commit import Commit
    from deltaworks.lake.merge import MergePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Save:
    """Write the rows as new files of the table."""

    path: str
    mode: Literal["append", "overwrite"]
    options: Mapping[str, str] = field(default_factory=dict)
    conf: Mapping[str, str] = field(default_factory=dict)
    partition_by: tuple[str, ...] = ()  # only where the partitioning may change
    keep: str | None = None  # rows for which this is false are left out
    columns: tuple[str, ...] = ()  # those that get their values; none means all
    action: str = ""
    statement: None = None

    def write(self, rows: DataFrame, commit: Commit) -> int | None:
        """Write the rows in one commit; says how many came, where the commit itself will not."""
        passing, count = counted(rows) if self.keep else (rows, lambda: None)
        chosen = _filled(_kept(passing, self.keep), self.columns)
        kind = self._format(rows.sparkSession, commit)
        writer = chosen.write.format(kind).mode(self.mode).options(**self.options, **write_options(commit))
        with configured(rows.sparkSession, self.conf):
            _partitioned(writer, self.partition_by).save(self.path)
        return (count() or 0) if self.keep else None

    def _format(self, session: SparkSession, commit: Commit) -> str:
        """Delta's; for an append with a mark our own, where the session has it: half the time for a small batch."""
        if self.mode == "overwrite" or commit.mark is None:
            return "delta"
        return str(session.conf.get(MARKED_APPEND, "delta"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """Make the table with the rows in it; fails when another writer made it meanwhile."""

    path: str
    name: str | None = None  # in the session's catalog
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    conf: Mapping[str, str] = field(default_factory=dict)
    keep: str | None = None  # rows for which this is false are left out
    require: str | None = None  # a row for which this is not true fails the load
    columns: tuple[str, ...] = ()  # those that get their values; none means all
    action: str = ""

    @property
    def statement(self) -> str | None:
        """The CREATE TABLE as people read it; none where no SQL is needed."""
        return self._sql("the rows") if self.cluster_by else None

    def write(self, rows: DataFrame, commit: Commit) -> int | None:
        """Make the table in one commit; says how many rows came, where the commit itself will not."""
        passing, count = counted(rows) if self.keep else (rows, lambda: None)
        self._make(self._chosen(passing), commit)
        return (count() or 0) if self.keep else None

    def _chosen(self, rows: DataFrame) -> DataFrame:
        rows = _kept(rows, self.keep)
        if self.require:
            message = f"a row is outside replaceWhere: {self.require}"
            rows = rows.where(f"assert_true({self.require}, {literal(message)}) IS NULL")
        return _filled(rows, self.columns)

    def _make(self, rows: DataFrame, commit: Commit) -> None:
        # A table made through the catalog takes its stamp from the session, whatever the writer's options say.
        stamped = self.name or self.cluster_by
        with configured(rows.sparkSession, {**self.conf, **(stamp_conf(commit) if stamped else {})}):
            if self.cluster_by:  # which no DataFrame writer can do
                run_over(rows, self._sql(ROWS))
            elif self.name:
                self._writer(rows).saveAsTable(self.name)
            else:
                self._writer(rows).options(**write_options(commit)).save(self.path)

    def _writer(self, rows: DataFrame) -> DataFrameWriter:
        writer = rows.write.format("delta").mode("errorifexists").options(**self.options, **self.properties)
        return _partitioned(writer, self.partition_by)

    def _sql(self, rows: str) -> str:
        given = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in self.properties.items())
        return "\n".join(
            [
                f"CREATE TABLE {self.name or path_name(self.path)} USING delta",
                f"CLUSTER BY ({', '.join(map(quoted, self.cluster_by))})",
                *([f"TBLPROPERTIES ({given})"] if given else []),
                f"AS SELECT * FROM {rows}",
            ]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Merge the rows into the table by key."""

    path: str
    plan: MergePlan
    conf: Mapping[str, str] = field(default_factory=dict)
    action: str = ""

    @property
    def statement(self) -> str:
        """The MERGE as people read it."""
        return self.plan.to_sql(path_name(self.path), "the rows")

    def write(self, rows: DataFrame, commit: Commit) -> None:
        """Merge the rows in one commit."""
        with configured(rows.sparkSession, {**self.conf, **stamp_conf(commit)}):
            run_over(rows, self.plan.to_sql(path_name(self.path), ROWS))


def _kept(rows: DataFrame, keep: str | None) -> DataFrame:
    return rows.alias("source").where(keep) if keep else rows


def _filled(rows: DataFrame, columns: tuple[str, ...]) -> DataFrame:
    """The rows with nulls in all columns but these."""
    if not columns:
        return rows
    wanted = {name.lower() for name in columns}
    nothing = {name: f"CAST(NULL AS {kind}) AS {quoted(name)}" for name, kind in rows.dtypes}
    return rows.selectExpr(*(quoted(name) if name.lower() in wanted else nothing[name] for name in rows.columns))


def path_name(path: str) -> str:
    """A table by its path, as SQL names it."""
    return f"delta.{quoted(path)}"


def _partitioned(writer: DataFrameWriter, columns: tuple[str, ...]) -> DataFrameWriter:
    return writer.partitionBy(*columns) if columns else writer
