"""Rows into a Delta table, as one commit."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from deltaworks import failpoints
from deltaworks.errors import ConfigError, ConflictError, RunError
from deltaworks.lake.log import Log, LoggedCommit
from deltaworks.lake.merge import Condition, MergePlan
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.model import Columns, Flag, Location, Whole, problem
from deltaworks.lake.positions import Landing, landed
from deltaworks.lake.schema import columns, fingerprint
from deltaworks.lake.table import Table, open_table
from deltaworks.runs.result import LoadResult
from deltaworks.spark.errors import ColumnNotFoundError, explained
from deltaworks.spark.sinks.base import Sink, WritePlan
from deltaworks.spark.sinks.delta_write import Merge, Save
from deltaworks.spark.stamp import RESERVED_OPTIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from deltaworks.lake.commit import Commit

LONGEST_WAIT = 3.0  # seconds between two tries


class DeltaSink(Sink):
    """A Delta table. Every load is one commit that says where it came from."""

    sink_type: Literal["DeltaLake"]
    """`DeltaLake`."""
    format: Literal["delta"] = "delta"
    """Always `delta`; may be left out."""
    path: Location
    """Where the table is, or will be."""
    merge_keys: Columns | None = None
    """For Upsert: the columns that identify a row. Null matches null."""
    update_condition: str | None = None
    """For Upsert: update a row already there only when this holds, as `source.at > target.at`."""
    delete_condition: str | None = None
    """For Upsert: delete the row already there, and insert nothing, when this holds, as `source.cancelled`."""
    partition_by: Columns | None = None
    """The columns whose values become folders, when the table is made."""
    enable_change_data_feed: Flag | None = None
    """Keep a change feed, when the table is made."""
    max_commit_attempts: Annotated[Whole, Field(ge=1)] = 10
    """How often to try when other writers are faster."""

    @model_validator(mode="after")
    def _our_marks_are_ours(self) -> Self:
        taken = sorted(name for name in self.options if name.lower() in RESERVED_OPTIONS)  # Spark ignores case
        if taken:
            raise problem(f"The option {taken[0]!r} is set by deltaworks itself", "Leave it out.")
        return self

    @property
    def place(self) -> str:
        """The table's path."""
        return self.path

    @property
    def takes_keys(self) -> bool:
        """A Delta commit can carry a key."""
        return True

    def check_mode(self, mode: WriteMode) -> None:
        """Upsert needs keys; what is only for Upsert is refused elsewhere, where it would do nothing."""
        only_upsert = {
            "mergeKeys": self.merge_keys,
            "updateCondition": self.update_condition,
            "deleteCondition": self.delete_condition,
        }
        if mode is WriteMode.UPSERT and not self.merge_keys:
            raise problem("Upsert needs mergeKeys", 'Add mergeKeys: ["id"] under load.connectionParams.')
        given = next((name for name, value in only_upsert.items() if value is not None), None)
        if mode is not WriteMode.UPSERT and given:
            raise problem(f"{given} does nothing with {mode.value}", "Use writeMode: Upsert, or leave it out.")

    def table(self) -> Table | None:
        """The table as it is now."""
        return None if Log(self.path).latest() is None else open_table(self.path)

    def plan(self, rows: DataFrame, mode: WriteMode) -> WritePlan:
        """Say what one commit would do to the table."""
        table = self.table()
        self._check_keys(rows, mode)
        _check_types(rows)
        if table is not None:
            self._check_fit(rows, table, mode)
            self._check_conditions(rows, mode)
        step = self._step(table, mode)
        return WritePlan(
            target=self.path,
            version=table.version if table else None,
            action=step.action,
            columns=table.columns if table else columns(rows.schema.json()),
            statement=step.statement,
        )

    def write(self, rows: DataFrame, mode: WriteMode, commit: Commit) -> LoadResult:
        """Commit the rows once, however many tries that takes, and read back what landed."""
        commit = replace(commit, schema=fingerprint(rows.schema.json()))
        while True:
            rows_read, conflict = self._attempt(rows, mode, commit)
            found = landed(Log(self.path), commit, commit.seen)
            if found.landing is Landing.OURS and found.commit:
                return self._result(found.commit, rows_read)
            if found.landing is Landing.TAKEN and found.commit:
                return LoadResult.landed_before(found.commit.version)
            if conflict is None:
                return self._nothing_landed(commit)
            if commit.attempt >= self.max_commit_attempts:
                raise conflict
            time.sleep(random.uniform(0, min(0.1 * 2**commit.attempt, LONGEST_WAIT)))  # noqa: S311 - jitter, not a secret
            commit = commit.again()

    def _attempt(self, rows: DataFrame, mode: WriteMode, commit: Commit) -> tuple[int | None, ConflictError | None]:
        # Decided anew each time: the table may have come into being, or changed, since the last try.
        step = self._step(self.table(), mode)
        failpoints.reach("before_commit")
        try:
            with explained("load"):
                rows_read = step.write(rows, commit)
        except ConflictError as conflict:
            return None, conflict
        failpoints.reach("after_commit")
        return rows_read, None

    def _step(self, table: Table | None, mode: WriteMode) -> Save | Merge:
        if mode is WriteMode.UPSERT:
            return self._upsert(table)
        verb = "replace all rows of" if mode is WriteMode.OVERWRITE else "append to"
        return Save(
            path=self.path,
            mode="overwrite" if mode is WriteMode.OVERWRITE else "append",
            partition_by=self.partition_by or (),
            options=self._save_options(table),
            action=f"{verb} {self.path}" if table else f"create {self.path}",
        )

    def _upsert(self, table: Table | None) -> Save | Merge:
        plan = MergePlan(
            keys=self.merge_keys or (),
            update_when=Condition(self.update_condition) if self.update_condition else None,
            delete_when=Condition(self.delete_condition) if self.delete_condition else None,
        )
        if table is not None:
            return Merge(path=self.path, plan=plan, action=f"merge into {self.path} by {', '.join(plan.keys)}")
        # Must fail when another writer made the table meanwhile: appending there would double keys.
        return Save(
            path=self.path,
            mode="errorifexists",
            partition_by=self.partition_by or (),
            options=self._save_options(None),
            keep=plan.rows_to_insert(),
            action=f"create {self.path}",
        )

    def _save_options(self, table: Table | None) -> dict[str, str]:
        options = self.spark_options()
        if table is None and self.enable_change_data_feed:
            options["delta.enableChangeDataFeed"] = "true"
        return options

    def _check_keys(self, rows: DataFrame, mode: WriteMode) -> None:
        there = {name.lower() for name in rows.columns}
        wanted = {"mergeKeys": self.merge_keys if mode is WriteMode.UPSERT else None, "partitionBy": self.partition_by}
        for option, names in wanted.items():
            for name in names or ():
                if name.lower() not in there:
                    raise ColumnNotFoundError(name, rows.columns, where=f"load.{option}")

    def _check_fit(self, rows: DataFrame, table: Table, mode: WriteMode) -> None:
        if self.partition_by and self.partition_by != table.partition_columns:
            there = list(table.partition_columns)
            raise ConfigError(
                f"partitionBy is {list(self.partition_by)}, but {self.path} is partitioned by {there}.",
                hint="Leave partitionBy out, or write to another path.",
            )
        ours, theirs = ({name.lower(): name for name in names} for names in (rows.columns, _names(table)))
        new = [ours[name] for name in ours if name not in theirs]
        if new and self.spark_options().get("mergeSchema") != "true":
            raise ConfigError(
                f"{self.path} has no column {', '.join(map(repr, new))}.",
                hint=f"Drop it with a dropColumns transform. Columns there: {', '.join(_names(table))}.",
            )
        missing = [theirs[name] for name in theirs if name not in ours]
        if missing and mode is WriteMode.UPSERT:
            raise ConfigError(
                f"The rows lack {', '.join(map(repr, missing))}, which {self.path} has.",
                hint="Add it with a withColumn transform.",
            )

    def _check_conditions(self, rows: DataFrame, mode: WriteMode) -> None:
        given = {"updateCondition": self.update_condition, "deleteCondition": self.delete_condition}
        if mode is not WriteMode.UPSERT or not any(given.values()):
            return
        target = rows.sparkSession.read.format("delta").load(self.path)
        pair = rows.alias("source").crossJoin(target.alias("target"))
        known = [*(f"source.{name}" for name in rows.columns), *(f"target.{name}" for name in target.columns)]
        for option, condition in given.items():
            if condition:
                with explained(f"load.{option}", known):
                    pair.where(condition)

    def _result(self, commit: LoggedCommit, rows_read: int | None) -> LoadResult:
        result = LoadResult.of(commit, rows_read=rows_read)
        if commit.parameters.get("mode") != "Overwrite" or commit.read_version is None:
            return result
        # An overwrite does not say how many rows it took away, but the version it replaced does.
        return replace(result, rows_deleted=open_table(self.path, version=commit.read_version).rows)

    def _nothing_landed(self, commit: Commit) -> LoadResult:
        if commit.mark is None:  # no rows, and nothing to remember: Delta makes no commit
            return LoadResult(success=True, rows_read=0, version=Log(self.path).latest())
        raise RunError(
            f"The key {commit.key!r} did not land in {self.path}, although Spark raised no error.",
            hint="Run it again with the same key: it lands once.",
        )


def _check_types(rows: DataFrame) -> None:
    # Delta leaves such a column out without a word.
    untyped = next((name for name, kind in rows.dtypes if kind == "void"), None)
    if untyped is not None:
        raise ConfigError(
            f"Column {untyped!r} has no type: it is only NULL.", hint="Give it one, as CAST(NULL AS string)."
        )


def _names(table: Table) -> list[str]:
    return [column.name for column in table.columns]
