"""What every sink has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from deltaworks.spark.connector import Connector

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from deltaworks.lake.commit import Commit
    from deltaworks.lake.mode import WriteMode
    from deltaworks.lake.schema import Column
    from deltaworks.lake.table import Table
    from deltaworks.runs.result import LoadResult


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePlan:
    """What a sink would do with the rows it was shown."""

    target: str
    version: int | None  # of the target as it is now; none when it is not there or has no versions
    action: str
    columns: tuple[Column, ...]  # the schema the target would have
    statement: str | None = None


class Sink(Connector, ABC):
    """Where rows go."""

    outer: ClassVar[frozenset[str]] = frozenset({"sinkType", "credentialId", "options"})

    sink_type: str
    """Which kind of sink this is."""

    @property
    @abstractmethod
    def place(self) -> str:
        """The path it writes, by which pipelines are put in order."""

    @abstractmethod
    def check_mode(self, mode: WriteMode) -> None:
        """Refuse a write mode this sink or its keys cannot do."""

    def table(self) -> Table | None:
        """The Delta table it writes; none when it is not there yet or is no Delta table."""
        return None

    @property
    def takes_keys(self) -> bool:
        """Whether a load can carry a key that lets it land only once."""
        return False

    @abstractmethod
    def plan(self, rows: DataFrame, mode: WriteMode) -> WritePlan:
        """Say what writing these rows would do, or why it cannot be done; writes nothing."""

    @abstractmethod
    def write(self, rows: DataFrame, mode: WriteMode, commit: Commit) -> LoadResult:
        """Write the rows, whole or not at all."""
