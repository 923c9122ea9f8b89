"""When another writer was faster: what to do about each kind of conflict, in each write mode."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from deltaworks.errors import ConflictError
from deltaworks.lake.mode import WriteMode

if TYPE_CHECKING:
    from collections.abc import Mapping


class Conflict(StrEnum):
    """The kinds of conflict Delta tells apart, and the one that Spark tells when two make the same table."""

    WRITE = "ConcurrentWriteException"
    APPEND = "ConcurrentAppendException"
    DELETE_READ = "ConcurrentDeleteReadException"
    DELETE_DELETE = "ConcurrentDeleteDeleteException"
    TRANSACTION = "ConcurrentTransactionException"
    METADATA = "MetadataChangedException"
    PROTOCOL = "ProtocolChangedException"
    CREATED = "TableCreated"


class Reaction(StrEnum):
    """What to do next."""

    RETRY = "retry"  # the same again: what it does to the table is found out anew by the engine
    REPLAN = "re-plan"  # look whether the rows still fit, and how, then again
    STOP = "stop"  # trying again cannot help: the mark is another run's


def _always(reaction: Reaction) -> dict[WriteMode, Reaction]:
    return dict.fromkeys(WriteMode, reaction)


REACTIONS: Mapping[Conflict, Mapping[WriteMode, Reaction]] = {
    # The log moved on and Delta could not tell how.
    Conflict.WRITE: _always(Reaction.RETRY),
    # Rows came that an overwrite has to replace or a merge has to match. A blind append cannot meet this.
    Conflict.APPEND: {**_always(Reaction.RETRY), WriteMode.APPEND: Reaction.REPLAN},
    # Files that were read or replaced are gone: compacted, merged or deleted by others.
    Conflict.DELETE_READ: {**_always(Reaction.RETRY), WriteMode.APPEND: Reaction.REPLAN},
    Conflict.DELETE_DELETE: {**_always(Reaction.RETRY), WriteMode.APPEND: Reaction.REPLAN},
    # The same mark was committed by another run: the load has landed, or was taken over.
    Conflict.TRANSACTION: _always(Reaction.STOP),
    # Columns, properties or features changed, or the table came into being: do the rows still fit?
    Conflict.METADATA: _always(Reaction.REPLAN),
    Conflict.PROTOCOL: _always(Reaction.REPLAN),
    Conflict.CREATED: _always(Reaction.REPLAN),
}


class WriteConflictError(ConflictError):
    """Another writer committed first; `conflict` says in which way."""

    def __init__(self, message: str, *, hint: str, conflict: Conflict) -> None:
        super().__init__(message, hint=hint)
        self.conflict = conflict

    def after(self, attempts: int) -> WriteConflictError:
        """The same, said after all tries."""
        tries = "" if attempts == 1 else f" (tried {attempts} times)"
        return WriteConflictError(f"{self}{tries}", hint=self.hint, conflict=self.conflict)

    def reaction(self, mode: WriteMode) -> Reaction:
        """What to do about it."""
        return REACTIONS[self.conflict][mode]


def conflict_of(kind: str, condition: str) -> Conflict | None:
    """The conflict an exception tells of, by its class or its error condition; none when it tells of none."""
    name = kind.rpartition(".")[2]
    if name in set(Conflict):
        return Conflict(name)
    return next((conflict for start, conflict in _CONDITIONS.items() if condition.startswith(start)), None)


_CONDITIONS = {
    "DELTA_CONCURRENT_APPEND": Conflict.APPEND,
    "DELTA_CONCURRENT_DELETE_READ": Conflict.DELETE_READ,
    "DELTA_CONCURRENT_DELETE_DELETE": Conflict.DELETE_DELETE,
    "DELTA_CONCURRENT_TRANSACTION": Conflict.TRANSACTION,
    "DELTA_CONCURRENT": Conflict.WRITE,
    "DELTA_METADATA_CHANGED": Conflict.METADATA,
    "DELTA_PROTOCOL_CHANGED": Conflict.PROTOCOL,
    "DELTA_PATH_EXISTS": Conflict.CREATED,
    "DELTA_TABLE_ALREADY_EXISTS": Conflict.CREATED,
    "DELTA_CREATE_TABLE_CONFLICT": Conflict.CREATED,
    "TABLE_OR_VIEW_ALREADY_EXISTS": Conflict.CREATED,
}
