"""Rows into files: CSV, JSON or Parquet."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Literal

from deltaworks.errors import ConfigError, RefusedError
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.model import Columns, Location, problem
from deltaworks.lake.schema import columns
from deltaworks.lake.storage import local_path
from deltaworks.runs.result import LoadResult
from deltaworks.spark.counting import counted
from deltaworks.spark.sinks.base import Sink, WritePlan, beside
from deltaworks.spark.sinks.delta import DeltaSink

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, DataFrameWriter

    from deltaworks.lake.commit import Commit
    from deltaworks.spark.batch import Batch
    from deltaworks.spark.look import Findings


class FileSink(Sink):
    """A folder of files. Append is at least once: files carry no marks."""

    sink_type: Literal["File", "S3"]
    """`File`, or `S3` for the same."""
    format: Literal["csv", "json", "parquet"]
    """How the rows are written."""
    path: Location
    """The folder the files go to."""
    partition_by: Columns | None = None
    """Columns whose values become folders."""

    @property
    def place(self) -> str:
        """The folder."""
        return self.path

    def check_mode(self, mode: WriteMode) -> None:
        """Files can be added or replaced, not merged."""
        if mode is WriteMode.UPSERT:
            raise problem("Files cannot be upserted", "Use Append or Overwrite, or a DeltaLake sink.")

    def scratch(self, run_id: str) -> str:
        """Beside the folder, under a name that Spark does not read."""
        return beside(self.path, f".{{}}.{run_id}.staging")

    def aside(self) -> Sink:
        """A Delta table of the same name with `_aside` after it."""
        return DeltaSink(sinkType="DeltaLake", path=beside(self.path, "{}_aside")).reached_by(self.access)

    def plan(self, rows: DataFrame, mode: WriteMode, findings: Findings | None = None) -> WritePlan:
        """Say which files would be written."""
        verb = "replace" if mode is WriteMode.OVERWRITE else "add to"
        action = f"{verb} the {self.format} files in {self.path}"
        return WritePlan(target=self.path, version=None, action=action, columns=columns(rows.schema.json()))

    def write(self, batch: Batch, mode: WriteMode, commit: Commit) -> LoadResult:
        """Write the files; when replacing, the old ones stay until the new ones are whole."""
        passing, count = counted(batch.rows)
        local = local_path(self.path)
        if mode is WriteMode.OVERWRITE and local is not None:
            _require_replaceable(local)
            draft = local.with_name(f".{local.name}.{commit.run_id}")
            self._writer(passing).mode("errorifexists").save(str(draft))
            _swap(draft, local)
        else:
            self._writer(passing).mode(mode.value.lower()).save(self.path)
        number = count() or 0
        return LoadResult(success=True, rows_read=number, rows_inserted=number, rows_written=number)

    def _writer(self, rows: DataFrame) -> DataFrameWriter:
        writer = rows.write.format(self.format).options(**self.spark_options())
        return writer.partitionBy(*self.partition_by) if self.partition_by else writer


def _require_replaceable(folder: Path) -> None:
    """Refuse to replace a folder that holds more than files Spark wrote: somebody meant another path."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file, not a folder.", hint="Give the folder the files go to.")
    known = ("part-", "_SUCCESS", ".", "_")
    strange = next(
        (path.name for path in sorted(folder.glob("*")) if not path.name.startswith(known) and "=" not in path.name),
        None,
    )
    if strange is not None:
        raise RefusedError(
            f"{folder} holds {strange!r}, which no load of files wrote; replacing the folder would lose it.",
            hint="Give an empty or new folder, or remove that yourself.",
        )


def _swap(draft: Path, final: Path) -> None:
    """Put the finished draft in the place of the old folder."""
    old = draft.with_name(f"{draft.name}.old")
    if final.exists():
        final.rename(old)
    draft.rename(final)
    if old.is_dir():
        shutil.rmtree(old)
