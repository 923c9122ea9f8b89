"""How files are read: with a schema or without, strictly or as Spark does."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.spark.connector import unless_said
from deltaworks.spark.formats import TEXT, FileFormat
from deltaworks.spark.sources.files_avro import OtherTypesError, columns_of_all
from deltaworks.spark.sources.files_strict import BAD, strict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

    from deltaworks.lake.schema_file import GivenSchema

LENIENT = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": BAD}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading:
    """One reading of files, decided."""

    kind: FileFormat
    path: str | list[str]  # as Spark takes it: a pattern, or several
    place: str  # as people write it
    options: Mapping[str, str]
    schema: GivenSchema | None
    strict: bool  # a record that cannot be read fails whoever looks at the rows

    def rows(self, spark: SparkSession) -> DataFrame:
        """The rows, lazily; the files are listed now and not again."""
        with _something_at(self.place):
            rows = self._inferred(spark) if self.schema is None else self._given(spark, self.schema)
        if not rows.columns:
            raise ConfigError(f"The files at {self.place} are empty and tell no columns.", hint="Give a schema.")
        # With a schema Spark need not look at files, and no files are just no rows.
        if self.schema is not None and not rows.inputFiles():
            raise NothingToReadError(self.place)
        return rows

    @property
    def _checked(self) -> bool:
        return self.strict and self.kind in TEXT

    def _given(self, spark: SparkSession, schema: GivenSchema) -> DataFrame:
        from pyspark.sql.types import StringType, StructType

        if schema.spark is None:
            return self._reader(spark, {"avroSchema": schema.avro or ""}).load(self.path)
        columns = StructType.fromJson(schema.spark)
        if not self._checked:
            return self._reader(spark).schema(columns).load(self.path)
        rows = self._reader(spark, LENIENT).schema(columns.add(BAD, StringType())).load(self.path)
        return strict(rows, text=self.kind == "csv")

    def _inferred(self, spark: SparkSession) -> DataFrame:
        if not self._checked:
            rows = self._reader(spark).load(self.path)
            return rows if self.kind != "avro" else self._of_all_columns(spark, rows)
        try:
            rows = self._reader(spark, {"mode": "FAILFAST"}).load(self.path)
        except Exception:
            if self.kind == "json":
                self._tell_bad_record(spark)
            raise
        return strict(rows, text=self.kind == "csv")

    def _of_all_columns(self, spark: SparkSession, rows: DataFrame) -> DataFrame:
        columns = columns_of_all(spark, rows, self._said())
        return rows if columns == rows.schema else self._reader(spark).schema(columns).load(self.path)

    def _tell_bad_record(self, spark: SparkSession) -> None:
        """Fail with the first record that is no JSON, which Spark does not name while it finds out the columns."""
        rows = self._reader(spark, LENIENT).load(self.path)
        if rows.columns == [BAD]:
            raise ConfigError(f"No record of {self.place} is JSON.", hint="Check the path and `format`.")
        strict(rows, text=False).count()

    def _reader(self, spark: SparkSession, own: Mapping[str, str] | None = None) -> DataFrameReader:
        return spark.read.format(self.kind).options(**unless_said(self._said(), own or {}))

    def _said(self) -> dict[str, str]:
        return unless_said(_defaults(self.kind, self.options), self.options)


def _defaults(kind: FileFormat, options: Mapping[str, str]) -> dict[str, str]:
    """What counts for a format unless the options say otherwise."""
    if kind == "parquet":
        return {"mergeSchema": "true"}  # else Spark takes the columns of one file, and passes over others'
    if kind != "csv":
        return {}
    header = any(name.lower() == "header" and value.lower() == "true" for name, value in options.items())
    # Spark would take columns by their place, whatever a header says, and not count those that nobody wants.
    return {"columnPruning": "false"} | ({"enforceSchema": "false"} if header else {})


class NothingToReadError(ConfigError):
    """There are no files where rows should come from."""

    def __init__(self, place: str) -> None:
        super().__init__(
            f"There is nothing to read at {place}.",
            hint="Check the path. Names with _ or . in front are not read, sub-folders only with the option "
            "recursiveFileLookup.",
        )


@contextmanager
def _something_at(place: str) -> Iterator[None]:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import AnalysisException

    try:
        yield
    except AnalysisException as error:
        if error.getCondition() in {"PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA"}:
            raise NothingToReadError(place) from error
        raise
    except Py4JJavaError as error:
        said = str(error.java_exception.getMessage())
        if "[CANNOT_MERGE_SCHEMAS]" in said:
            told = " ".join(said.split()).rstrip(".")
            raise OtherTypesError(f"The files at {place} do not agree on the types of columns: {told}") from error
        if "No Avro files found" in said:
            raise NothingToReadError(place) from error
        raise
