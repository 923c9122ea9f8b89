"""Rows of files: CSV, JSON, Parquet or Avro."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from deltaworks.lake.given import SchemaFile, SchemaText, check_given, given
from deltaworks.lake.globs import matching, unescaped
from deltaworks.lake.model import Pattern
from deltaworks.lake.storage import UnreachableError, local_path, reason
from deltaworks.spark.formats import TEXT, FileFormat, groups_of, require_format
from deltaworks.spark.sources.base import Source
from deltaworks.spark.sources.files_read import FileReading, NothingToReadError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

CORRUPT = "_corrupt_record"  # Spark's own name for the column


class FileSource(Source):
    """Rows of one file, a folder of files, or all files a pattern matches."""

    source_type: Literal["File", "S3"]
    """`File`, or `S3` for the same."""
    format: FileFormat
    """How the rows are written: `csv`, `json`, `parquet` or `avro`."""
    path: Pattern
    r"""A file, a folder, or a pattern such as `data/2024-*/{a,b}.csv`. A `\` makes the next sign a plain one."""
    ddl: Annotated[SchemaText | None, Field(alias="schema")] = None
    """The columns, as SQL types: `id BIGINT, name STRING`. Without it they are found out from the files."""
    schema_name: SchemaFile | None = None
    """A file that holds the columns: SQL types in `.ddl`, `.sql` or `.txt`, Spark's `.json`, or Avro's `.avsc`."""

    @model_validator(mode="after")
    def _one_schema(self) -> Self:
        check_given(self.ddl, self.schema_name, self.format)
        return self

    @property
    def place(self) -> str:
        """The files' path."""
        return unescaped(self.path)

    @property
    def jar_groups(self) -> frozenset[str]:
        """Those of its storage; Avro needs one of its own."""
        return super().jar_groups | groups_of(self.format)

    @property
    def repeats(self) -> bool:
        """The files are listed once, when the rows are asked for.

        What a record that cannot be read gives, though, depends on the columns that are wanted of it.
        """
        return self.format not in TEXT or self._strict

    @property
    def _strict(self) -> bool:
        """Whether a record that cannot be read fails the run: so unless the file says where such records go."""
        said = self.option("mode")
        if said is not None:
            return said.upper() == "FAILFAST"
        found = given(self.ddl, self.schema_name)
        return found is None or not found.has(self.option("columnNameOfCorruptRecord") or CORRUPT)

    def fixed(self) -> None:
        """See that there is something to read."""
        local = local_path(self.path)
        if local is None:
            return
        try:
            if any(_holds_data(path) for path in matching(str(local))):
                return
        except OSError as error:
            raise UnreachableError(self.place, error.strerror or reason(error)) from error
        raise NothingToReadError(self.place)

    def read(self, spark: SparkSession, span: Any) -> DataFrame:
        """The rows of the files, lazily; files that come later are not seen."""
        require_format(spark, self.format)
        local = local_path(self.path)
        reading = FileReading(
            kind=self.format,
            path=self.path if local is None else str(local),
            place=self.place,
            options=self.spark_options(),
            schema=given(self.ddl, self.schema_name),
            strict=self._strict,
        )
        return reading.rows(spark)

    def describe(self, span: Any) -> str:
        """What will be read, in one line."""
        return f"{self.format} files {self.path}"


def _holds_data(path: Path) -> bool:
    """Whether Spark finds a file here."""
    return any(map(_is_data, path.iterdir())) if path.is_dir() else _is_data(path)


def _is_data(path: Path) -> bool:
    # Spark passes over such names, but for partitions and the folder that it is asked for.
    hidden = path.name.startswith(".") or (path.name.startswith("_") and "=" not in path.name)
    return not hidden and (not path.is_dir() or _holds_data(path))
