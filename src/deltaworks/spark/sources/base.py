"""What every source has."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from deltaworks.lake.model import FileModel, Flag
from deltaworks.spark.connector import Connector

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Incremental(FileModel):
    """Read only what is new since the last run."""

    cursor_column: str | None = None
    """The column that grows with every change."""


class Source(Connector):
    """Where rows come from."""

    outer: ClassVar[frozenset[str]] = frozenset({"sourceType", "credentialId", "options", "incremental", "cache"})

    source_type: str
    """Which kind of source this is."""
    incremental: Incremental | None = None
    """Read only what is new since the last run."""

    cache: Flag = False
    """For an input that is used more than once: read it once and keep its rows for the run."""

    @property
    def repeats(self) -> bool:
        """Whether reading the same span again gives the same rows."""
        return False

    def fixed(self) -> Any:
        """Decide what exactly will be read, before the first action; none where there is nothing to fix."""
        return None

    @abstractmethod
    def read(self, spark: SparkSession, span: Any) -> DataFrame:
        """The rows, lazily."""

    @abstractmethod
    def describe(self, span: Any) -> str:
        """What will be read, in one line."""
