"""Rows of files: CSV, JSON or Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from deltaworks.errors import ConfigError
from deltaworks.lake.model import Location
from deltaworks.lake.storage import local_path
from deltaworks.spark.sources.base import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class FileSource(Source):
    """Rows of one file, a folder of files, or all files a pattern matches."""

    source_type: Literal["File", "S3"]
    """`File`, or `S3` for the same."""
    format: Literal["csv", "json", "parquet"]
    """How the rows are written."""
    path: Location
    """A file, a folder, or a pattern such as `data/*.csv`."""

    @property
    def place(self) -> str:
        """The files' path."""
        return self.path

    @property
    def repeats(self) -> bool:
        """The files are listed once, when the rows are asked for."""
        return True

    def fixed(self) -> None:
        """See that there is something to read."""
        local = local_path(self.path)
        if local is not None and not _matches(local):
            raise ConfigError(f"There is nothing to read at {self.path}.", hint="Check the path in `extract`.")

    def read(self, spark: SparkSession, span: Any) -> DataFrame:
        """The rows of the files, lazily."""
        return spark.read.format(self.format).options(**self.spark_options()).load(self.path)

    def describe(self, span: Any) -> str:
        """What will be read, in one line."""
        return f"{self.format} files {self.path}"


def _matches(path: Path) -> bool:
    return path.exists() or any(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
