"""What every sink has."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from deltaworks.errors import ConfigError
from deltaworks.lake.model import problem
from deltaworks.spark.connector import Connector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from deltaworks.lake.commit import Commit
    from deltaworks.lake.mode import WriteMode
    from deltaworks.lake.positions import KeyedMark
    from deltaworks.lake.schema import Column
    from deltaworks.lake.table import Table
    from deltaworks.runs.result import LoadResult
    from deltaworks.spark.batch import Batch
    from deltaworks.spark.keys import Keys
    from deltaworks.spark.look import Findings


EACH = "{table}"  # what stands for the name of each of several tables
_PLACES = ("path", "table", "topic")


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePlan:
    """What a sink would do with the rows it was shown."""

    target: str
    version: int | None  # of the target as it is now; none when it is not there or has no versions
    action: str
    columns: tuple[Column, ...]  # the schema the target would have
    statement: str | None = None
    files_before: int | None = None  # of the target as it is now
    files_read: int | None = None  # those that can hold a key of the batch: all others are left alone
    notes: tuple[str, ...] = ()  # what a person should know before the run


class Sink(Connector):
    """Where rows go."""

    outer: ClassVar[frozenset[str]] = frozenset({"sinkType", "credentialId", "options", "after"})

    sink_type: str
    """Which kind of sink this is."""

    @property
    def names_each(self) -> bool:
        """Whether each of several tables would have a place of its own."""
        return any(EACH in (getattr(self, name, None) or "") for name in _PLACES)

    def for_table(self, name: str) -> Self:
        """This sink with the place of one of several tables."""
        given = {field: getattr(self, field, None) for field in _PLACES}
        return self.model_copy(update={field: text.replace(EACH, name) for field, text in given.items() if text})

    @abstractmethod
    def check_mode(self, mode: WriteMode) -> None:
        """Refuse a write mode this sink or its keys cannot do."""

    def target(self) -> Table | None:
        """The Delta table it writes, as it is now; none when it is not there yet or is no Delta table."""
        return None

    @property
    def takes_keys(self) -> bool:
        """Whether a load can carry a key that lets it land only once."""
        return False

    def mark_for(self, pipeline: str, key: str, *, again: bool) -> KeyedMark:
        """The mark of a keyed load, and whether its key has landed already."""
        raise ConfigError("This sink carries no marks, so a key means nothing there.", hint="Leave out --key.")

    def row_keys(self, mode: WriteMode) -> Keys | None:
        """The columns that identify a row, and what becomes of null and repeated ones; none where all rows land."""
        return None

    def shaped(self, rows: DataFrame, mode: WriteMode) -> DataFrame:
        """The rows with values as the target will have them, for whoever looks at them before."""
        return rows

    @abstractmethod
    def scratch(self, run_id: str) -> str:
        """A folder of its own for rows that are looked at more than once."""

    def check_aside(self) -> None:
        """Refuse a file that sets rows aside where this sink has no place for them."""

    @abstractmethod
    def aside(self) -> Sink:
        """The Delta table beside the target, for rows that break a rule."""

    @abstractmethod
    def plan(self, rows: DataFrame, mode: WriteMode, findings: Findings | None = None) -> WritePlan:
        """Say what writing these rows would do, or why it cannot be done; writes nothing."""

    @abstractmethod
    def write(self, batch: Batch, mode: WriteMode, commit: Commit) -> LoadResult:
        """Write the rows, whole or not at all."""


def refuse_idle(sink: Sink, mode: WriteMode, only_for: Mapping[WriteMode, Sequence[str]]) -> None:
    """Refuse what is only for another write mode, because it would do nothing."""
    for other, fields in only_for.items():
        given = next((name for name in fields if mode is not other and name in sink.model_fields_set), None)
        if given:
            key = type(sink).model_fields[given].alias or given
            hint = f"Use writeMode: {other.value}, or leave it out."
            raise problem(f"{key} does nothing with {mode.value}", hint)


def beside(path: str, name: str) -> str:
    """A path next to another one."""
    parent, slash, last = path.rstrip("/").rpartition("/")
    return f"{parent}{slash}{name.format(last)}"
