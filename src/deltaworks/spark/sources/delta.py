"""Rows of a Delta table: now, as it was, or as it changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

from pydantic import model_validator

from deltaworks.errors import ConfigError
from deltaworks.lake.log import Log
from deltaworks.lake.model import Flag, Location, Whole, problem
from deltaworks.lake.table import NotATableError, VersionNotFoundError, open_table
from deltaworks.lake.travel import first_version_since, instant, version_at
from deltaworks.spark.sources.base import Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession


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
    path: Location
    """Where the table is."""
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

    @model_validator(mode="after")
    def _one_past(self) -> Self:
        travel = {"versionAsOf": self.version_as_of, "timestampAsOf": self.timestamp_as_of}
        _at_most_one(travel)
        _at_most_one({"startingVersion": self.starting_version, "startingTimestamp": self.starting_timestamp})
        _at_most_one({"endingVersion": self.ending_version, "endingTimestamp": self.ending_timestamp})
        for name in ("timestamp_as_of", "starting_timestamp", "ending_timestamp"):
            _check_time(getattr(self, name))
        self._check_feed([name for name, value in travel.items() if value is not None])
        return self

    def _check_feed(self, travel: list[str]) -> None:
        bounds = {
            "startingVersion": self.starting_version,
            "startingTimestamp": self.starting_timestamp,
            "endingVersion": self.ending_version,
            "endingTimestamp": self.ending_timestamp,
        }
        given = [name for name, value in bounds.items() if value is not None]
        if given and not self.read_change_feed:
            raise problem(f"{given[0]} is for a change feed only", "Add readChangeFeed: true, or use versionAsOf.")
        if self.read_change_feed and travel:
            raise problem(f"{travel[0]} does not go with readChangeFeed", "Use startingVersion and endingVersion.")
        if self.read_change_feed and not any(name.startswith("starting") for name in given):
            raise problem("A change feed needs a start", "Add startingVersion or startingTimestamp.")
        if self.starting_version is not None and self.ending_version is not None:
            _in_order(self.starting_version, self.ending_version)

    @property
    def place(self) -> str:
        """The table's path."""
        return self.path

    @property
    def repeats(self) -> bool:
        """A version of a table never changes."""
        return True

    def fixed(self) -> DeltaSpan:
        """Pin the version, so that however often the rows are looked at they are the same rows."""
        readable = Log(self.path).readable()
        if not readable:
            raise NotATableError(self.path)
        if self.read_change_feed:
            return self._fixed_feed(readable)
        return DeltaSpan(version=self._version(self.version_as_of, self.timestamp_as_of, readable))

    def _fixed_feed(self, readable: range) -> DeltaSpan:
        start = self._version(self.starting_version, None, readable)
        if self.starting_timestamp is not None:
            start = first_version_since(Log(self.path), instant(self.starting_timestamp))
        end = self._version(self.ending_version, self.ending_timestamp, readable)
        if open_table(self.path).properties.get("delta.enableChangeDataFeed") != "true":
            raise ConfigError(
                f"The table {self.path} keeps no change feed.",
                hint="Set enableChangeDataFeed: true where it is written; changes count from then on.",
            )
        if start > end:
            raise ConfigError(
                f"The change feed would start at version {start} and end at {end}.", hint="Swap the times."
            )
        return DeltaSpan(version=end, start=start)

    def _version(self, version: int | None, timestamp: str | None, readable: range) -> int:
        if version is not None and version not in readable:
            raise VersionNotFoundError(self.path, version, readable)
        if timestamp is not None:
            return version_at(Log(self.path), instant(timestamp))
        return readable[-1] if version is None else version

    def read(self, spark: SparkSession, span: DeltaSpan) -> DataFrame:
        """The rows of the pinned versions, lazily."""
        reader = spark.read.format("delta").options(**self.spark_options())
        if span.start is None:
            return reader.option("versionAsOf", span.version).load(self.path)
        feed = reader.option("readChangeFeed", "true").option("startingVersion", span.start)
        return feed.option("endingVersion", span.version).load(self.path)

    def describe(self, span: DeltaSpan) -> str:
        """What will be read, in one line."""
        if span.start is None:
            return f"Delta table {self.path}, version {span.version}"
        return f"changes of Delta table {self.path}, versions {span.start} to {span.version}"


def _at_most_one(given: Mapping[str, object]) -> None:
    if all(value is not None for value in given.values()):
        first, second = given
        raise problem(f"{first} and {second} are both given", "Leave one of them out.")


def _in_order(start: int, end: int) -> None:
    if start > end:
        raise problem(f"startingVersion {start} comes after endingVersion {end}", "Swap them.")


def _check_time(text: str | None) -> None:
    if text is None:
        return
    try:
        instant(text)
    except ConfigError as error:
        raise problem(str(error).rstrip("."), error.hint) from None
