"""Rows into files: CSV, JSON, Parquet or Avro."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from deltaworks.lake.folder import folder_at
from deltaworks.lake.given import SchemaFile, SchemaText, check_given, given
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.model import Columns, Location, problem
from deltaworks.lake.schema import columns
from deltaworks.lake.storage import local_path
from deltaworks.runs.result import LoadResult
from deltaworks.spark.connector import unless_said
from deltaworks.spark.counting import counted
from deltaworks.spark.formats import TEXT, FileFormat, codec, groups_of, require_format
from deltaworks.spark.sinks.base import Sink, WritePlan, beside
from deltaworks.spark.sinks.delta import aside_at
from deltaworks.spark.sinks.files_fit import check_csv, check_partitions, fitted
from deltaworks.spark.sinks.files_replace import replace_local, replace_remote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter

    from deltaworks.lake.commit import Commit
    from deltaworks.spark.batch import Batch
    from deltaworks.spark.look import Findings

# Spark's own formats for text leave microseconds out.
MICROSECONDS = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
COMPRESSION = ("compression", "codec", "parquet.compression")  # Spark's names for the option


class FileSink(Sink):
    """A folder of files. Append is at least once: files carry no marks."""

    sink_type: Literal["File", "S3"]
    """`File`, or `S3` for the same."""
    format: FileFormat
    """How the rows are written: `csv`, `json`, `parquet` or `avro`."""
    path: Location
    """The folder the files go to."""
    partition_by: Columns | None = None
    """Columns whose values become folders."""
    compression: str | None = None
    """How files are compressed, `none`, `gzip`, `snappy`, `zstd` and others: which, depends on the format."""
    ddl: Annotated[SchemaText | None, Field(alias="schema")] = None
    """The columns that the files must get, as SQL types: `id BIGINT, name STRING`. Rows that do not fit are refused."""
    schema_name: SchemaFile | None = None
    """A file that holds these columns: SQL types in `.ddl`, `.sql` or `.txt`, Spark's `.json`, or Avro's `.avsc`."""

    @field_validator("compression")
    @classmethod
    def _known_compression(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is not None and "format" in info.data:
            codec(info.data["format"], name)
        return name

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        check_given(self.ddl, self.schema_name, self.format)
        for name in COMPRESSION if self.compression else ():
            said = self.option(name)
            if said is not None and said.lower() not in {self.compression, self._codec}:
                raise problem(f"compression is {self.compression!r} here and {said!r} in options", "Leave one out.")
        return self

    @property
    def _codec(self) -> str | None:
        return codec(self.format, self.compression) if self.compression else None

    @property
    def jar_groups(self) -> frozenset[str]:
        """Those of its storage; Avro needs one of its own."""
        return super().jar_groups | groups_of(self.format)

    @property
    def place(self) -> str:
        """The folder."""
        return self.path

    def check_mode(self, mode: WriteMode) -> None:
        """Files can be added or replaced, not merged."""
        if mode is WriteMode.UPSERT:
            raise problem("Files cannot be upserted", "Use Append or Overwrite, or a DeltaLake sink.")

    def scratch(self, own: str) -> str:
        """Beside the folder, under a name that Spark does not read."""
        return beside(self.path, f".{{}}.{own}.staging")

    def aside(self) -> Sink:
        """A Delta table of the same name with `_aside` after it."""
        return aside_at(beside(self.path, "{}_aside"), self.access)

    def plan(self, rows: DataFrame, mode: WriteMode, findings: Findings | None = None) -> WritePlan:
        """Say which files would be written."""
        verb = "replace" if mode is WriteMode.OVERWRITE else "add to"
        action = f"{verb} the {self.format} files in {self.path}"
        found = columns(self._checked(rows).schema.json())
        return WritePlan(target=self.path, version=None, action=action, columns=found)

    def write(self, batch: Batch, mode: WriteMode, commit: Commit) -> LoadResult:
        """Write the files; when replacing, the old ones stay until the new ones are whole."""
        passing, count = counted(self._checked(batch.rows))
        local = local_path(self.path)
        if mode is not WriteMode.OVERWRITE:
            self._writer(passing).mode("append").save(self.path if local is None else str(local))
        elif local is None:
            draft = self._writer(passing).mode("errorifexists").save
            replace_remote(folder_at(self.path, self.access), commit.run_id, draft)
        else:
            replace_local(local, commit.run_id, self._writer(passing).mode("errorifexists").save)
        number = count() or 0
        return LoadResult(success=True, rows_read=number, rows_inserted=number, rows_written=number)

    def _checked(self, rows: DataFrame) -> DataFrame:
        """The rows as the files get them; refuses what the format cannot hold or the file does not promise."""
        require_format(rows.sparkSession, self.format)
        found = fitted(rows, given(self.ddl, self.schema_name))
        check_partitions(found, self.partition_by or ())
        if self.format == "csv":
            check_csv(found)
        return found

    def _writer(self, rows: DataFrame) -> DataFrameWriter:
        writer = rows.write.format(self.format).options(**self._options())
        return writer.partitionBy(*self.partition_by) if self.partition_by else writer

    def _options(self) -> dict[str, str]:
        schema = given(self.ddl, self.schema_name)
        own = {"compression": self._codec} if self._codec else {}
        own |= {"avroSchema": schema.avro} if schema and schema.avro else {}
        defaults = MICROSECONDS if self.format in TEXT else {}
        return unless_said(defaults | own, self.spark_options()) | own
