"""Rows of a Delta table: now, as it was, or as it changed."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from deltaworks.errors import ConfigError
from deltaworks.lake.additions import Ignored
from deltaworks.lake.feed import require_feed, require_recording
from deltaworks.lake.feed_columns import require_columns
from deltaworks.lake.log import Log
from deltaworks.lake.model import Flag, Location, Whole, as_problem, problem
from deltaworks.lake.remains import require_files
from deltaworks.lake.sql import literal, quoted
from deltaworks.lake.table import NotATableError, VersionNotFoundError, table_of
from deltaworks.lake.travel import first_version_since, instant, version_at
from deltaworks.spark.catalog import TableName, location, require_one_place
from deltaworks.spark.changes import CHANGE_ORDER, FEED_COLUMNS, INSERT_ORDER
from deltaworks.spark.hidden import ORDER
from deltaworks.spark.sources.base import Incremental, Source
from deltaworks.spark.sources.delta_follow import DeltaPosition, new_files, require_followable, require_start
from deltaworks.spark.sources.incremental import Delivered, Request, Streamed, position_of, understanding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

    from deltaworks.lake.additions import Group
    from deltaworks.spark.surroundings import Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaSpan:
    """The part of a table's past that one run reads."""

    version: int
    start: int | None = None  # set for a change feed, which reads from here to `version`


class DeltaIncremental(Incremental):
    """Read only what is new in the table since the last run, the whole table at first.

    With `readChangeFeed` these are the changes, else the rows that were added.
    """

    max_files_per_batch: Annotated[Whole, Field(ge=1)] | None = None
    """How many files one batch reads, about; a version of a change feed is always read whole."""


class DeltaSource(Streamed, Source):
    """Rows of a Delta table: the latest version, an earlier one, its change feed, or what is new since the last run."""

    source_type: Literal["DeltaLake"]
    """`DeltaLake`."""
    format: Literal["delta"] = "delta"
    """Always `delta`; may be left out."""
    path: Location = ""
    """Where the table is. This or `table` is needed."""
    table: TableName | None = None
    """The table's name in the session's catalog: `name`, `schema.name` or `catalog.schema.name`."""
    version_as_of: Whole | None = None
    """Read the table as it was at this version."""
    timestamp_as_of: str | None = None
    """Read the table as it was at this time; UTC where no zone is given."""
    read_change_feed: Flag = False
    """Read what changed instead of what is there."""
    starting_version: Whole | None = None
    """First version of the change feed."""
    ending_version: Whole | None = None
    """Last version of the change feed; the latest where none is given."""
    starting_timestamp: str | None = None
    """Start of the change feed as a time."""
    ending_timestamp: str | None = None
    """End of the change feed as a time."""
    ignore_deletes: Flag = False
    """Leave out rows that were deleted; for a change feed or an incremental read."""
    ignore_changes: Flag = False
    """Leave out rows that were updated, as they were and as they became; for a change feed or an incremental read.
    Without a feed, all that a version did which changed or deleted rows."""
    incremental: DeltaIncremental | None = None
    """Read only what is new since the last run."""

    @model_validator(mode="after")
    def _one_past(self) -> Self:
        require_one_place(self.path, self.table)
        travel = {"versionAsOf": self.version_as_of, "timestampAsOf": self.timestamp_as_of}
        starts = {"startingVersion": self.starting_version, "startingTimestamp": self.starting_timestamp}
        ends = {"endingVersion": self.ending_version, "endingTimestamp": self.ending_timestamp}
        for ways in (travel, starts, ends):
            _at_most_one(ways)
        _checked_time(self.timestamp_as_of)
        self._check_feed(_given(travel), _given(starts), _given(ends))
        _in_order("Version", self.starting_version, self.ending_version)
        _in_order("Timestamp", _checked_time(self.starting_timestamp), _checked_time(self.ending_timestamp))
        self._check_ignored()
        return self

    def _check_feed(self, travel: list[str], starts: list[str], ends: list[str]) -> None:
        if self.incremental is not None:
            self._check_incremental(travel, ends)
            return
        if (starts or ends) and not self.read_change_feed:
            name = (starts + ends)[0]
            raise problem(f"{name} is for a change feed only", "Add readChangeFeed: true, or use versionAsOf.")
        if self.read_change_feed and travel:
            raise problem(f"{travel[0]} does not go with readChangeFeed", "Use startingVersion and endingVersion.")
        if self.read_change_feed and not starts:
            raise problem("A change feed needs a start", "Add startingVersion or startingTimestamp.")

    def _check_incremental(self, travel: list[str], ends: list[str]) -> None:
        if travel or ends:
            raise problem(f"{(travel + ends)[0]} does not go with incremental", "Leave one of them out.")

    def _check_ignored(self) -> None:
        if self._ignored() and not self.read_change_feed and self.incremental is None:
            name = "ignoreDeletes" if self.ignore_deletes else "ignoreChanges"
            raise problem(f"{name} is for a change feed or an incremental read only", "Add readChangeFeed: true.")

    @property
    def place(self) -> str:
        """The table's path, or its name where that is all there is."""
        return self.path or self.table or ""

    @property
    def needs_catalog(self) -> bool:
        """It does where it has a name."""
        return self.table is not None

    def located(self, around: Surroundings) -> Self:
        """This source with the path of its name, and the way there."""
        if self.path or self.table is None:
            return super().located(around)
        return self.model_copy(update={"path": location(around.session(), self.table)}).located(around)

    @property
    def repeats(self) -> bool:
        """A version of a table never changes."""
        return True

    def fixed(self) -> DeltaSpan:
        """Pin the version, so that however often the rows are looked at they are the same rows."""
        log = Log(self.path, self.access)
        latest = log.latest()
        if latest is None:
            raise NotATableError(self.path)
        if self.read_change_feed:
            return self._fixed_feed(log, latest)
        version = _version(log, self.version_as_of, self.timestamp_as_of, latest)
        if version != latest and version not in (readable := log.readable()):
            raise VersionNotFoundError(self.path, version, readable)
        require_files(log, version, latest)
        return DeltaSpan(version=version)

    def _fixed_feed(self, log: Log, latest: int) -> DeltaSpan:
        start = self.starting_version or 0
        if self.starting_timestamp is not None:
            start = first_version_since(log, instant(self.starting_timestamp))
        end = _version(log, self.ending_version, self.ending_timestamp, latest)
        require_feed(log, start, end)
        require_columns(log, start, end, latest)
        return DeltaSpan(version=end, start=start)

    def read(self, spark: SparkSession, span: DeltaSpan) -> DataFrame:
        """The rows of the pinned versions, lazily."""
        rows = self._reader(spark).option("versionAsOf", span.version).load(self.path)
        return rows if span.start is None else self._feed(spark, span.start, span.version, rows.columns)

    def _feed(self, spark: SparkSession, start: int, end: int, columns: list[str]) -> DataFrame:
        """The changes, with the columns there were at the end: Spark would add those that came later."""
        reader = self._reader(spark).option("readChangeFeed", "true")
        feed = reader.option("startingVersion", start).option("endingVersion", end).load(self.path)
        return self._changes(feed.select(*(quoted(name) for name in (*columns, *FEED_COLUMNS))))

    def _changes(self, changes: DataFrame) -> DataFrame:
        ignored = ", ".join(literal(change) for change in self._ignored())
        kept = changes.where(f"_change_type NOT IN ({ignored})") if ignored else changes
        return kept.selectExpr("*", f"{CHANGE_ORDER if self.tells_changes else INSERT_ORDER} AS {ORDER}")

    @property
    def tells_changes(self) -> bool:
        """A feed does, unless rows that are gone are left out."""
        return self.read_change_feed and not self.ignore_deletes

    def _ignored(self) -> list[str]:
        deletes = ["delete"] if self.ignore_deletes else []
        return deletes + (["update_preimage", "update_postimage"] if self.ignore_changes else [])

    def _reader(self, spark: SparkSession) -> DataFrameReader:
        return spark.read.format("delta").options(**self.spark_options())

    @property
    def _log(self) -> Log:
        return Log(self.path, self.access)

    def identity(self) -> str:
        """The table's own id, wherever it is."""
        return f"delta:{table_of(self._log).id}"

    def beginning(self) -> Any:
        """The whole table as it is now, unless the file names a start."""
        log = self._log
        start = self.starting_version
        if self.starting_timestamp is not None:
            start = first_version_since(log, instant(self.starting_timestamp))
        if start is not None:
            require_start(log, start, feed=self.read_change_feed, ignored=self._passed_over)
            return DeltaPosition(start).to_dict()
        version = table_of(log).version
        if self.read_change_feed:
            require_recording(log, version)
        return DeltaPosition(version, snapshot=True).to_dict()

    def end(self) -> Any:
        """Behind the newest version."""
        return DeltaPosition(table_of(self._log).version + 1).to_dict()

    def require_there(self, position: Any) -> None:
        """See that every version since is there, with its changes."""
        start = DeltaPosition.of(position)
        require_followable(self._log, start, feed=self.read_change_feed, ignored=self._passed_over)

    def told(self, position: Any) -> str:
        """The version."""
        return str(DeltaPosition.of(position))

    def understood(self, text: str) -> Any:
        """The first version to read next, or a position as a commit spells it."""
        found = position_of(text)
        with understanding(text):
            return DeltaPosition.checked({"version": found} if isinstance(found, int) else found).to_dict()

    def stream(self, spark: SparkSession) -> DataFrame:
        """New rows, or changes, from the version on that the checkpoint says."""
        own = {"readChangeFeed": "true"} if self.read_change_feed else {}
        own |= {"ignoreDeletes": "true"} if self.ignore_deletes and not self.read_change_feed else {}
        own |= {"skipChangeCommits": "true"} if self.ignore_changes and not self.read_change_feed else {}
        files = self.incremental.max_files_per_batch if self.incremental else None
        own |= {"maxFilesPerTrigger": str(files)} if files else {}
        return spark.readStream.format("delta").options(**self.spark_options(), **own).load(self.path)

    def to_offset(self, position: Any) -> str:
        """As Delta spells it."""
        return DeltaPosition.of(position).to_offset(table_of(self._log).id)

    def of_offset(self, offset: str, before: Any) -> Any:
        """As Delta spells it."""
        return DeltaPosition.of_offset(offset).to_dict()

    def delivered(self, rows: DataFrame, start: Any, end: Any) -> Delivered:
        """New rows, or changes with their order."""
        changes = self._changes(rows) if self.read_change_feed else rows
        said = f"{self._what} of Delta table {self.path}, {self.told(start)} up to {self.told(end)}"
        return Delivered(rows=changes, said=said, end=end, repeats=True)

    @property
    def _what(self) -> str:
        return "changes" if self.read_change_feed else "new rows"

    @contextmanager
    def following(self, spark: SparkSession, request: Request) -> Iterator[Delivered | None]:
        """All that follows a position, read as one batch."""
        log = self._log
        start, latest = DeltaPosition.of(request.position), table_of(log).version
        if start.version > latest and not start.snapshot and not request.whole:
            yield None
            return
        rows, end = self._since(spark, log, start, latest)
        said = f"{self._what} of Delta table {self.path}, {start} up to {end}"
        yield Delivered(rows=rows, said=said, end=end.to_dict(), repeats=True)

    def _since(
        self, spark: SparkSession, log: Log, start: DeltaPosition, latest: int
    ) -> tuple[DataFrame, DeltaPosition]:
        if start.snapshot:
            return self._snapshot(spark, start.version), DeltaPosition(start.version + 1)
        if start.version > latest:  # no rows yet, but with the columns of those that will come
            return self._snapshot(spark, latest).where("false"), start
        return self._new(spark, log, start, latest), DeltaPosition(latest + 1)

    def _new(self, spark: SparkSession, log: Log, start: DeltaPosition, latest: int) -> DataFrame:
        if self.read_change_feed:
            whole = self.read(spark, DeltaSpan(version=latest))
            return self._feed(spark, start.version, latest, whole.columns)
        *earlier, last = new_files(log, start, latest, ignored=self._passed_over)
        # The latest version first: the columns are its own.
        parts = (self._of_files(spark, each) for each in (last, *earlier))
        return reduce(lambda rows, more: rows.unionByName(more, allowMissingColumns=True), parts)

    def _of_files(self, spark: SparkSession, group: Group) -> DataFrame:
        names = ", ".join(literal(path.rpartition("/")[2]) for path in sorted(group.files)) or "''"
        return self.read(spark, DeltaSpan(version=group.version)).where(f"_metadata.file_name IN ({names})")

    @property
    def _passed_over(self) -> Ignored:
        return Ignored(deletes=self.ignore_deletes, changes=self.ignore_changes)

    def _snapshot(self, spark: SparkSession, version: int) -> DataFrame:
        """The whole table, as changes where changes follow."""
        rows = self.read(spark, DeltaSpan(version=version))
        if not self.read_change_feed:
            return rows
        made = f"timestamp_millis({int(self._log.times()[version].timestamp() * 1000)}L)"
        values = (literal("insert"), f"{version}L", made)
        feed = (f"{value} AS {name}" for value, name in zip(values, FEED_COLUMNS, strict=True))
        return self._changes(rows.selectExpr("*", *feed))

    def between(self, start: str, end: str) -> Source:
        """The changes from one version or time to another, both included."""
        if not self.read_change_feed:
            raise ConfigError("Only a change feed has a range.", hint="Add readChangeFeed: true, or leave out --from.")
        whole: dict[str, Any] = {"incremental": None, "starting_version": None, "starting_timestamp": None}
        if start.isdigit() and end.isdigit():
            return self.model_copy(update={**whole, "starting_version": int(start), "ending_version": int(end)})
        for time in (start, end):
            instant(time)
        return self.model_copy(update={**whole, "starting_timestamp": start, "ending_timestamp": end})

    def describe(self, span: DeltaSpan) -> str:
        """What will be read, in one line."""
        if span.start is None:
            return f"Delta table {self.path}, version {span.version}"
        return f"changes of Delta table {self.path}, versions {span.start} to {span.version}"


def _version(log: Log, version: int | None, timestamp: str | None, latest: int) -> int:
    if timestamp is not None:
        return version_at(log, instant(timestamp))
    return latest if version is None else version


def _given(ways: Mapping[str, object]) -> list[str]:
    return [name for name, value in ways.items() if value is not None]


def _at_most_one(ways: Mapping[str, object]) -> None:
    if len(given := _given(ways)) > 1:
        raise problem(f"{' and '.join(given)} are both given", "Leave one of them out.")


def _in_order(what: str, start: Any, end: Any) -> None:
    if start is not None and end is not None and start > end:
        raise problem(f"starting{what} {start} comes after ending{what} {end}", "Swap them.")


def _checked_time(text: str | None) -> datetime | None:
    with as_problem():
        return None if text is None else instant(text)
