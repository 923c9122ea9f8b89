"""Rows of files: CSV, JSON, Parquet or Avro."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from deltaworks.errors import ConfigError
from deltaworks.lake.file_lists import Chain, FileLists
from deltaworks.lake.given import SchemaFile, SchemaText, check_given, given
from deltaworks.lake.globs import escaped, matching, unescaped
from deltaworks.lake.listing import Listing, Wanted
from deltaworks.lake.model import Pattern, problem
from deltaworks.lake.storage import UnreachableError, local_path, reason
from deltaworks.lake.travel import instant
from deltaworks.spark.connector import unless_said
from deltaworks.spark.formats import TEXT, FileFormat, groups_of, require_format
from deltaworks.spark.sources.base import Source
from deltaworks.spark.sources.files_new import FileIncremental, FilePosition, NewFiles, between, counted
from deltaworks.spark.sources.files_read import FileReading, NothingToReadError
from deltaworks.spark.sources.incremental import Continues, Delivered, Request

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.lake.folder import Stored
    from deltaworks.lake.mode import WriteMode
    from deltaworks.spark.sinks.base import Sink
    from deltaworks.spark.sources.files_new import FileBatch

CORRUPT = "_corrupt_record"  # Spark's own name for the column
TIMES = ("modifiedAfter", "modifiedBefore")  # options of Spark's


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSpan:
    """The files that one run reads, where not just all there are."""

    listing: Listing
    files: Sequence[Stored]


class FileSource(Continues, Source):
    """Rows of one file, a folder of files, or all files a pattern matches; or only of files that are new."""

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

    incremental: FileIncremental | None = None
    """Read only files that were not read yet."""

    _lists: FileLists | None = PrivateAttr(default=None)  # of the pipeline that reads it
    _times: tuple[datetime, datetime] | None = PrivateAttr(default=None)  # from when to when files were written

    @model_validator(mode="after")
    def _one_schema(self) -> Self:
        check_given(self.ddl, self.schema_name, self.format)
        return self

    @model_validator(mode="after")
    def _known_by_names(self) -> Self:
        timed = next((name for name in TIMES if self.option(name) is not None), None)
        if self.incremental is not None and timed:
            hint = "Leave it out; `run --from … --to …` loads files of a range of time."
            raise problem(f"{timed} does not go with incremental, which knows files by their names", hint)
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

    def fixed(self) -> FileSpan | None:
        """See that there is something to read."""
        if self._times is not None:
            return self._written_in(*self._times)
        self._require_something()
        return None

    def _written_in(self, start: datetime, end: datetime) -> FileSpan:
        listing = self._wanted.listed(self.access)
        files = between(listing.files.values(), start, end)
        if not files:
            raise NothingToReadError(f"{self.place} that was written from {start.isoformat()} to {end.isoformat()}")
        return FileSpan(listing=listing, files=files)

    def _require_something(self) -> None:
        local = local_path(self.path)
        if local is None:
            return
        try:
            if any(_holds_data(path) for path in matching(str(local))):
                return
        except OSError as error:
            raise UnreachableError(self.place, error.strerror or reason(error)) from error
        raise NothingToReadError(self.place)

    def read(self, spark: SparkSession, span: FileSpan | None) -> DataFrame:
        """The rows of the files, lazily; files that come later are not seen."""
        require_format(spark, self.format)
        local = local_path(self.path)
        if span is None:
            return self._reading(self.path if local is None else str(local)).rows(spark)
        base = {"basePath": span.listing.partitions} if span.listing.partitions else {}
        return self._reading([escaped(span.listing.path(file.name)) for file in span.files], base).rows(spark)

    def _reading(self, path: str | list[str], own: Mapping[str, str] | None = None) -> FileReading:
        return FileReading(
            kind=self.format,
            path=path,
            place=self.place,
            options=unless_said(own or {}, self.spark_options()),
            schema=given(self.ddl, self.schema_name),
            strict=self._strict,
        )

    def describe(self, span: FileSpan | None) -> str:
        """What will be read, in one line."""
        return f"{self.format} files {self.path}" if span is None else self._said(span.files)

    def _said(self, files: Sequence[Stored]) -> str:
        return f"{counted(len(files))} of {self.format} files {self.path}"

    @property
    def _wanted(self) -> Wanted:
        recursive = (self.option("recursiveFileLookup") or "").lower() == "true"
        return Wanted(pattern=self.path, recursive=recursive, named=self.option("pathGlobFilter"))

    def check_incremental(self, sink: Sink, mode: WriteMode) -> None:
        """Lists of what was read are kept in the folder of the target."""
        if not sink.has_folder:
            raise problem(
                "New files are known by lists beside the target, which has no folder", "Load into a Delta table."
            )

    def for_pipeline(self, pipeline: str, sink: Sink) -> Self:
        """This source, knowing where the lists are of what the pipeline has read."""
        if self.incremental is None:
            return self
        found = self.model_copy()
        found._lists = FileLists(sink.folder, pipeline)
        return found

    @property
    def _new(self) -> NewFiles:
        assert self.incremental is not None
        assert self._lists is not None
        return NewFiles(wanted=self._wanted, access=self.access, rules=self.incremental, lists=self._lists)

    def identity(self) -> str:
        """The path or pattern, in one spelling."""
        return f"files:{self._wanted.whole}"

    def beginning(self) -> Any:
        """Nothing was read yet."""
        return FilePosition().to_dict()

    def require_there(self, position: Any) -> None:
        """See that it is known which files were read."""
        self._new.lists.chain(FilePosition.of(position).list)

    def end(self) -> Any:
        """All files there are."""
        return FilePosition().after([*self._wanted.listed(self.access).files.values()]).to_dict()

    def told(self, position: Any) -> str:
        """How many files, and how new."""
        return str(FilePosition.of(position))

    @contextmanager
    def following(self, spark: SparkSession, request: Request) -> Iterator[Delivered | None]:
        """The next files that were not read yet, read as one batch."""
        new = self._new
        if request.whole:
            batch = new.whole(Chain(), request.run_id)
            if batch is None:
                raise NothingToReadError(self.place)
        else:
            batch = new.after(FilePosition.of(request.position), request.run_id)
        yield None if batch is None else self._delivered(spark, new, batch)

    def _delivered(self, spark: SparkSession, new: NewFiles, batch: FileBatch) -> Delivered:
        try:
            rows = self.read(spark, FileSpan(listing=batch.listing, files=batch.files))
        except NothingToReadError:
            new.require_unchanged(batch)
            raise
        return Delivered(
            rows=rows,
            said=f"new: {self._said(batch.files)}",
            end=batch.end.to_dict(),
            more=batch.more,
            settle=lambda: new.settle(batch),
        )

    def between(self, start: str, end: str) -> Source:
        """The files that were written from one time up to another, as storage says."""
        times = instant(start), instant(end)
        if times[0] >= times[1]:
            raise ConfigError(f"{start} is not before {end}.", hint="Swap --from and --to.")
        found = self.model_copy(update={"incremental": None})
        found._times = times
        return found


def _holds_data(path: Path) -> bool:
    """Whether Spark finds a file here."""
    return any(map(_is_data, path.iterdir())) if path.is_dir() else _is_data(path)


def _is_data(path: Path) -> bool:
    # Spark passes over such names, but for partitions and the folder that it is asked for.
    hidden = path.name.startswith(".") or (path.name.startswith("_") and "=" not in path.name)
    return not hidden and (not path.is_dir() or _holds_data(path))
