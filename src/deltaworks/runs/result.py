"""What a load did, in numbers taken from the commit itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from deltaworks.errors import DeltaworksError
    from deltaworks.lake.log import LoggedCommit


class Kept(NamedTuple):
    """How a rule was kept: its name, what happens otherwise, and how many rows did not keep it."""

    name: str
    on_failure: str
    broken: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult:
    """One load: whether it landed, where, and how many rows did what."""

    success: bool
    rows_read: int | None = None  # rows the source gave; those a filter kept Spark from reading are not among them
    rows_inserted: int = 0
    rows_updated: int = 0
    rows_deleted: int = 0
    rows_written: int = 0  # rows in new files, unchanged neighbours included
    rows_dropped: int = 0  # rows a rule left out
    rows_set_aside: int = 0  # rows a rule sent to the table beside the target
    rows_superseded: int = 0  # older rows of a key whose newest was written
    version: int | None = None
    files_before: int | None = None  # files the table had; known for an upsert
    files_read: int | None = None  # those of them that could hold a key of the batch
    files_added: int = 0
    files_removed: int = 0
    bytes_added: int = 0
    attempts: int = 1
    batches: int | None = None  # of an incremental run; each is a commit of its own
    seconds: float = 0.0
    already_landed: bool = False
    landed_by: str | None = None  # the run that had landed it, where that is known
    expectations: tuple[Kept, ...] = ()
    notes: tuple[str, ...] = ()  # what a person should know about this load
    error: str | None = None
    hint: str | None = None

    @classmethod
    def of(cls, commit: LoggedCommit, *, rows_read: int | None = None) -> Self:
        """Read the numbers off the commit that landed."""
        count = _Counts(commit.metrics)
        merge = commit.operation == "MERGE"
        written = count("numOutputRows", "num_output_rows", "num_added_rows")
        inserted = (
            count("numTargetRowsInserted", "num_target_rows_inserted") if merge else written - count("numCopiedRows")
        )
        came = count("numSourceRows", "num_source_rows") if merge else inserted
        return cls(
            success=True,
            rows_read=came if merge or rows_read is None else rows_read,
            rows_inserted=inserted,
            rows_updated=count("numTargetRowsUpdated", "num_target_rows_updated"),
            rows_deleted=count("numTargetRowsDeleted", "num_target_rows_deleted", "numDeletedRows"),
            rows_written=written,
            version=commit.version,
            files_added=commit.added.count,
            files_removed=commit.removed.count,
            bytes_added=commit.added.bytes,
            attempts=commit.ours.attempt if commit.ours else 1,
        )

    @classmethod
    def landed_before(cls, version: int | None, run_id: str | None = None) -> Self:
        """A keyed load that found its key in the table."""
        return cls(success=True, version=version, already_landed=True, landed_by=run_id, rows_read=0)

    @classmethod
    def failure(cls, error: DeltaworksError, *, attempts: int = 1) -> Self:
        """A load that did not land; the table is as it was."""
        return cls(success=False, error=str(error), hint=error.hint, attempts=attempts)

    def plus(self, later: LoadResult) -> Self:
        """This load and a later one, as one."""
        summed = {name: getattr(self, name) + getattr(later, name) for name in _SUMMED}
        rules = tuple(map(_both, self.expectations, later.expectations)) if self.expectations else later.expectations
        return replace(
            self,
            **summed,
            rows_read=(self.rows_read or 0) + (later.rows_read or 0),
            batches=(self.batches or 0) + (later.batches or 0),
            version=later.version,
            attempts=max(self.attempts, later.attempts),
            expectations=rules,
            notes=tuple(dict.fromkeys((*self.notes, *later.notes))),
        )

    def after(self, seconds: float) -> Self:
        """The same result with its duration."""
        return replace(self, seconds=round(seconds, 3))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        rules = [rule._asdict() for rule in self.expectations]
        return asdict(self) | {"expectations": rules, "notes": list(self.notes)}


_SUMMED = (
    "rows_inserted",
    "rows_updated",
    "rows_deleted",
    "rows_written",
    "rows_dropped",
    "rows_set_aside",
    "rows_superseded",
    "files_added",
    "files_removed",
    "bytes_added",
)


def _both(one: Kept, other: Kept) -> Kept:
    return one._replace(broken=one.broken + other.broken)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far an incremental pipeline has got, as people read it."""

    batch: int
    since: str  # when the last batch landed
    position: str
    end: str  # of the source


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """One step after the load, such as a vacuum; without a version there was nothing to do."""

    name: str
    success: bool
    version: int | None = None
    files_added: int = 0
    files_removed: int = 0
    bytes_added: int = 0
    bytes_removed: int = 0
    seconds: float = 0.0
    error: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """One run of one pipeline: its load, and where its record is."""

    run_id: str
    pipeline_id: str
    load: LoadResult
    record: str  # a folder, or a URI of one
    after: tuple[StepResult, ...] = ()  # what was done to the table once the rows had landed
    standing: Standing | None = None  # of an incremental run
    part: str | None = None  # which of several tables
    parts: tuple[RunResult, ...] = ()  # of a file that names several tables: one of each, this one included

    @property
    def success(self) -> bool:
        """Whether the rows are in the table, and so for all tables."""
        return self.load.success and all(part.success for part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "run_id": self.run_id,
            "pipeline_id": self.pipeline_id,
            "part": self.part,
            "record": self.record,
            **self.load.to_dict(),
            "standing": asdict(self.standing) if self.standing else None,
            "after": [asdict(step) for step in self.after],
        }


@dataclass(frozen=True, slots=True)
class _Counts:
    metrics: Any

    def __call__(self, *names: str) -> int:
        found = next((self.metrics[name] for name in names if name in self.metrics), 0)
        return int(found)
