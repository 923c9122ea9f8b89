"""Rows of a Delta table: now, as it was, or as it changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import model_validator

from deltaworks.lake.feed import require_feed
from deltaworks.lake.feed_columns import require_columns
from deltaworks.lake.log import Log
from deltaworks.lake.model import Flag, Location, Whole, as_problem, problem
from deltaworks.lake.remains import require_files
from deltaworks.lake.sql import literal, quoted
from deltaworks.lake.table import NotATableError, VersionNotFoundError
from deltaworks.lake.travel import first_version_since, instant, version_at
from deltaworks.spark.catalog import TableName, location, require_one_place
from deltaworks.spark.hidden import ORDER
from deltaworks.spark.sources.base import Source

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

    from deltaworks.spark.surroundings import Surroundings

_FEED_COLUMNS = ("_change_type", "_commit_version", "_commit_timestamp")
# Within one version a row that is gone, or as it was before, is older than the row that took its place.
_NEWER = "struct(_commit_version, _change_type NOT IN ('delete', 'update_preimage'))"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaSpan:
    """The part of a table's past that one run reads."""

    version: int
    start: int | None = None  # set for a change feed, which reads from here to `version`


class DeltaSource(Source):
    """Rows of a Delta table: the latest version, an earlier one, or its change feed."""

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
    """Leave out rows that were updated, as they were and as they became; for a change feed or an incremental read."""

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
        if (starts or ends) and not self.read_change_feed:
            name = (starts + ends)[0]
            raise problem(f"{name} is for a change feed only", "Add readChangeFeed: true, or use versionAsOf.")
        if self.read_change_feed and travel:
            raise problem(f"{travel[0]} does not go with readChangeFeed", "Use startingVersion and endingVersion.")
        if self.read_change_feed and not starts:
            raise problem("A change feed needs a start", "Add startingVersion or startingTimestamp.")

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
        changes = feed.select(*(quoted(name) for name in (*columns, *_FEED_COLUMNS)))
        ignored = ", ".join(literal(change) for change in self._ignored())
        kept = changes.where(f"_change_type NOT IN ({ignored})") if ignored else changes
        return kept.selectExpr("*", f"{_NEWER} AS {ORDER}")

    def _ignored(self) -> list[str]:
        deletes = ["delete"] if self.ignore_deletes else []
        return deletes + (["update_preimage", "update_postimage"] if self.ignore_changes else [])

    def _reader(self, spark: SparkSession) -> DataFrameReader:
        return spark.read.format("delta").options(**self.spark_options())

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
