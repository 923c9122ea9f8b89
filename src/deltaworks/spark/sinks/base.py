"""What every sink has."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from deltaworks.errors import ConfigError
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.model import problem
from deltaworks.spark.connector import Connector

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame

    from deltaworks.lake.commit import Commit
    from deltaworks.lake.folder import Folder
    from deltaworks.lake.keyed import KeyedMark
    from deltaworks.lake.positions import Reached
    from deltaworks.lake.schema import Column
    from deltaworks.lake.table import Table
    from deltaworks.runs.result import LoadResult
    from deltaworks.spark.batch import Batch
    from deltaworks.spark.keys import Keys
    from deltaworks.spark.look import Findings


EACH = "{table}"  # what stands for the name of each of several tables
_PLACES = ("path", "table", "topic")
_ASIDE = "aside_path"


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

    def check_several(self) -> None:
        """Refuse a file whose several tables would share a place."""
        if not self.names_each:
            raise problem(
                "Several tables would go to one place", "Write {table} for the name of each, as lake/{table}."
            )
        if EACH not in (getattr(self, _ASIDE, None) or EACH):
            raise problem(
                "Rows of several tables would be set aside in one place",
                "Write {table} for the name of each, as asidePath: lake/{table}_aside.",
            )

    def for_table(self, name: str) -> Self:
        """This sink with the place of one of several tables."""
        given = {field: getattr(self, field, None) for field in (*_PLACES, _ASIDE)}
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

    @property
    def keeps_positions(self) -> bool:
        """Whether a load can carry how far its source was read, so that the next goes on from there."""
        return False

    @property
    def has_folder(self) -> bool:
        """Whether what it writes is a folder in which notes of ours have a place."""
        return False

    @property
    def folder(self) -> Folder:
        """That folder, once it is located."""
        raise ConfigError("This sink writes no folder.", hint="Load into a Delta table.")

    def check_incremental(self, mode: WriteMode) -> None:
        """Refuse a way of writing in which one batch would undo the one before."""
        if not self.keeps_positions:
            raise problem(
                "This sink keeps no position, so that nobody knows what is new",
                "Load into a Delta table or a database.",
            )
        if mode is WriteMode.OVERWRITE:
            raise problem("Every batch would replace the one before", "Use Append or Upsert, or leave out incremental.")

    def reached(self, pipeline: str) -> Reached | None:
        """How far a pipeline got here; none where it has not begun. Refuses where that cannot be trusted."""
        raise ConfigError("This sink keeps no position.", hint="Leave out incremental.")

    def last_known(self, pipeline: str) -> Reached | None:
        """How far a pipeline got here, whatever became of its rows since."""
        return self.reached(pipeline)

    def at_version(self, pipeline: str, version: int) -> Reached | None:
        """How far the rows went that were here at a version; none where the pipeline had not begun."""
        raise ConfigError(
            "This sink has no versions to go back to.",
            hint="Say where to go on: `deltaworks state set FILE --position …`.",
        )

    def moves(self, pipeline: str) -> Iterable[Reached]:
        """The last times that somebody moved a pipeline's position, newest first, as far as that is kept."""
        return ()

    def last_batch(self, pipeline: str) -> int:
        """The number of the last batch of a pipeline, whatever became of its rows; 0 where there was none."""
        raise ConfigError("This sink keeps no position.", hint="Leave out incremental.")

    def others(self, pipeline: str, source: str) -> Iterable[str]:
        """Other pipelines that hold a position of the same source here."""
        return ()

    def landed(self, commit: Commit, result: LoadResult) -> Reached:
        """How far the pipeline got with a commit that has been read back; what helps to find it again is noted."""
        raise ConfigError("This sink keeps no position.", hint="Leave out incremental.")

    def require_movable(self) -> None:
        """Refuse where no position can be moved; writes nothing."""

    def move(self, commit: Commit) -> Reached:
        """Let a pipeline go on from somewhere else: no row lands, only the mark and the position of a commit.

        One that adopts another gives that one's position up at the same time.
        """
        raise ConfigError("This sink keeps no position.", hint="Leave out incremental.")

    def applies_changes(self, mode: WriteMode) -> bool:
        """Whether a row that says of another that it is gone deletes that one."""
        return False

    def check_changes(self, mode: WriteMode) -> None:
        """Refuse a way of writing in which rows that say of others that they are gone would become rows."""

    def row_keys(self, mode: WriteMode) -> Keys | None:
        """The columns that identify a row, and what becomes of null and repeated ones; none where all rows land."""
        return None

    def shaped(self, rows: DataFrame, mode: WriteMode) -> DataFrame:
        """The rows with values as the target will have them, for whoever looks at them before."""
        return rows

    @abstractmethod
    def scratch(self, own: str) -> str:
        """A folder for rows that are looked at more than once, by an id of its own."""

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
