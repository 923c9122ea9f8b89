"""A Delta table, looked at without a JVM."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError, RunError
from deltaworks.lake.log import Files, Log, LoggedCommit
from deltaworks.lake.schema import Column, columns
from deltaworks.lake.storage import escaped, local_path, one_spelling, patiently, reason
from deltaworks.lake.travel import instant, version_at
from deltaworks.vault.environment import process_variables
from deltaworks.vault.storage import Sources, access_to

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    import pyarrow as pa
    from deltalake import DeltaTable


def open_table(
    uri: str | Path,
    *,
    version: int | None = None,
    timestamp: datetime | str | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> Table:
    """Open a Delta table, now or as it was at a version or a time (UTC where no zone is given).

    The storage options are delta-rs's own; what they leave open, the process's environment may say.
    """
    if version is not None and timestamp is not None:
        raise ConfigError("A table is opened at a version or at a time, not both.", hint="Leave one of them out.")
    place = one_spelling(str(uri))
    log = Log(place, access_to(place, Sources(given=storage_options or {}, environment=process_variables())))
    if timestamp is not None and log.latest() is not None:
        version = version_at(log, instant(timestamp))
    return table_of(log, version)


def table_of(log: Log, version: int | None = None) -> Table:
    """The table whose log this is, now or as it was at a version."""
    found = newest(log) if version is None else _at(log, version)
    if found is None:
        raise NotATableError(log.uri)
    return found


def newest(log: Log) -> Table | None:
    """The table as it is now; none when there is no table here."""
    log.summed_up()  # tells sooner than delta-rs, and in plainer words, that storage does not let us in
    try:
        return Table(log)  # which finds the version by itself
    except UnreadableTableError:
        latest = log.latest()
        return None if latest is None else Table(log, latest)


def _at(log: Log, version: int) -> Table | None:
    latest = log.latest()
    if latest is None:
        return None
    if version != latest and version not in (readable := log.readable()):
        raise VersionNotFoundError(log.uri, version, readable)
    return Table(log, version)


class Table:
    """One version of a Delta table; it stays that version however the table goes on."""

    def __init__(self, log: Log, version: int | None = None) -> None:
        self.log = log
        self.uri = log.uri
        self._delta = _opened(log, version)
        self.version = self._delta.version()

    def __repr__(self) -> str:
        return f"Table({self.uri!r}, version={self.version})"

    @cached_property
    def schema_json(self) -> str:
        """The schema as the log spells it."""
        return self._delta.schema().to_json()

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema."""
        import pyarrow

        return pyarrow.schema(self._delta.schema().to_arrow())

    @property
    def columns(self) -> tuple[Column, ...]:
        """Names and types as people read them."""
        return columns(self.schema_json)

    @property
    def id(self) -> str:
        """The table's own identity; a recreated table has another."""
        return str(self._delta.metadata().id)

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The columns whose values are folders."""
        return tuple(self._delta.metadata().partition_columns)

    @property
    def properties(self) -> Mapping[str, str]:
        """The table properties that were set."""
        return dict(self._delta.metadata().configuration)

    @property
    def features(self) -> tuple[str, ...]:
        """What a reader or writer must be able to do, by name."""
        protocol = self._delta.protocol()
        return tuple(sorted({*(protocol.reader_features or ()), *(protocol.writer_features or ())}))

    @property
    def protocol(self) -> tuple[int, int]:
        """The reader and writer versions a client needs."""
        protocol = self._delta.protocol()
        return protocol.min_reader_version, protocol.min_writer_version

    @cached_property
    def files(self) -> Files:
        """How many data files this version has, and their bytes."""
        import pyarrow

        sizes = pyarrow.table(self._delta.get_add_actions())["size_bytes"].to_pylist()
        return Files(len(sizes), sum(sizes))

    @cached_property
    def file_statistics(self) -> pa.Table:
        """One row a data file: `path`, `num_records`, and `partition.…`, `min.…` and `max.…` of its columns."""
        import pyarrow

        return pyarrow.table(self._delta.get_add_actions(flatten=True))

    @property
    def rows(self) -> int:
        """Rows by the files' own statistics, without those that deletion vectors hide."""
        return self._delta.count() - (self._hidden() if "deletionVectors" in self.features else 0)

    def _hidden(self) -> int:
        import pyarrow
        import pyarrow.compute as pc

        found = pyarrow.RecordBatchReader.from_stream(self._delta.deletion_vectors())
        shown = (pc.list_flatten(batch.column("selection_vector")) for batch in found)
        return sum(len(rows) - rows.true_count for rows in shown)

    def mark(self, app_id: str) -> int | None:
        """How far an application got in this table, by its txn actions."""
        return self._delta.transaction_version(app_id)

    def scan(self, columns: Sequence[str] | None = None, where: str | None = None) -> pa.RecordBatchReader:
        """Read rows as a stream; `where` is a SQL condition."""
        import pyarrow

        with _possible(self.uri):
            found = self._delta.scan(list(columns) if columns is not None else None, where)
        reader = pyarrow.RecordBatchReader.from_stream(found)
        # The engine answers with view types, on which most of pyarrow's functions do not work.
        return reader.cast(pyarrow.schema([self.schema.field(name) for name in reader.schema.names]))

    def to_arrow(self) -> pa.Table:
        """Read all rows."""
        return self.scan().read_all()

    def changes(self, start: int, end: int | None = None) -> pa.RecordBatchReader:
        """The change feed from one version to another, both included."""
        import pyarrow

        with _possible(self.uri):
            found = self._delta.load_cdf(start, end)
        return pyarrow.RecordBatchReader.from_stream(found)

    def history(self, limit: int | None = None) -> Iterator[LoggedCommit]:
        """The commits up to this version that the log still holds, newest first."""
        return islice(self.log.back(self.version), limit)


class NotATableError(ConfigError):
    """A path was named that holds no Delta table."""

    def __init__(self, uri: str) -> None:
        path = local_path(uri)
        there = path is not None and path.exists()
        super().__init__(
            f"There is no Delta table at {uri}.",
            hint=f"The folder is there but has no _delta_log; {_LOOK}" if there else f"Nothing is there; {_LOOK}",
        )
        self.uri = uri


_LOOK = "check the path, or run the pipeline that writes it first."


class VersionNotFoundError(ConfigError):
    """A version was named that the table does not have, or no longer has."""

    def __init__(self, uri: str, version: object, readable: range) -> None:
        super().__init__(
            f"Version {version} of {uri} does not exist.", hint=f"Versions {readable[0]} to {readable[-1]} do."
        )
        self.version = version


class UnreadableTableError(RunError):
    """delta-rs cannot open this table: it needs a feature delta-rs lacks, or its log is damaged."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(f"The table {uri} cannot be opened: {reason}", hint="Look at it through Spark instead.")


@contextmanager
def _possible(uri: str) -> Iterator[None]:
    from deltalake.exceptions import DeltaError

    try:
        yield
    except DeltaError as error:
        said = " ".join(str(error).split())
        if "Unsupported table features" in said:
            raise UnreadableTableError(uri, said) from error
        raise ConfigError(f"{uri} cannot be read like this: {said}", hint="Check columns and versions.") from error


def _opened(log: Log, version: int | None) -> DeltaTable:
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    options = log.access.to_object_store()
    try:
        return patiently(lambda: DeltaTable(escaped(log.uri), version=version, storage_options=options))
    except (DeltaError, OSError, ValueError) as error:
        raise UnreadableTableError(log.uri, reason(error)) from error
