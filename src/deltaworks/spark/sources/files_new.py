"""New files: those that a pipeline has not read yet, batch by batch."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field

from deltaworks import failpoints
from deltaworks.errors import ConfigError, RefusedError, RunError
from deltaworks.lake.durations import duration
from deltaworks.lake.model import Bytes, Whole, as_problem
from deltaworks.lake.storage import UnreachableError
from deltaworks.lake.travel import instant
from deltaworks.spark.sources.base import Incremental

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from deltaworks.lake.file_lists import Chain, FileLists
    from deltaworks.lake.folder import Stored
    from deltaworks.lake.listing import Listing, Wanted
    from deltaworks.vault.storage import Access

MOST_SHOWN = 3
_START = datetime(1970, 1, 1, tzinfo=UTC)


def _a_duration(text: str) -> str:
    with as_problem():
        duration(text)
    return text


class FileIncremental(Incremental):
    """Read only files that were not read yet, all of them at first. Files are known by their names."""

    on_changed: Literal["fail", "reread"] = "fail"
    """A file that was read and has changed since: fails the run, or is read again as if it were new."""
    max_files_per_batch: Annotated[Whole, Field(ge=1)] | None = None
    """How many files one batch reads at most, the oldest first."""
    max_bytes_per_batch: Bytes | None = None
    """How much one batch reads at most, as `"1GB"` or bytes; at least one file."""
    min_age: Annotated[str, AfterValidator(_a_duration)] = "0s"
    """Leave a file alone for so long after it was last written, as `30s`: it may not be whole yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePosition:
    """What was read so far: how much, and the list that names it."""

    list: str | None = None
    files: int = 0
    bytes: int = 0
    through: str | None = None  # when the newest of them was written; nothing is decided by it
    since: str | None = None  # files that were written before count as read, because somebody said so

    @classmethod
    def of(cls, position: Any) -> Self:
        """Understand a position as a commit spells it."""
        known = cls.__dataclass_fields__
        ours = isinstance(position, dict) and position.keys() <= known.keys()
        if not ours or not isinstance(position.get("list"), str | None):
            raise ConfigError(
                f"{position!r} is no position of files.", hint='Write {}, or {"since": "2024-01-31T12:00:00Z"}.'
            )
        if position.get("since") is not None:
            instant(position["since"])
        return cls(**position)

    def to_dict(self) -> dict[str, Any]:
        """Spell it as a commit does."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def after(self, files: Sequence[Stored], named: str | None = None) -> FilePosition:
        """The position behind some more files."""
        newest = max((_moment(file) for file in files), default=None)
        through = None if newest is None else f"{newest:%Y-%m-%dT%H:%M:%S.%fZ}"
        return FilePosition(
            list=named,
            files=self.files + len(files),
            bytes=self.bytes + sum(file.size for file in files),
            through=max(filter(None, (self.through, through)), default=None),
            since=self.since,
        )

    def __str__(self) -> str:
        if not self.files:
            return "no files" if self.since is None else f"files since {self.since}"
        return f"{counted(self.files)}, the newest of {self.through}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBatch:
    """The files of one batch, and what is left to do once they have been read."""

    files: tuple[Stored, ...]
    listing: Listing
    chain: Chain
    end: FilePosition
    more: bool = False  # all that are there did not fit into it


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFiles:
    """The files of one place that a pipeline has not read yet."""

    wanted: Wanted
    access: Access
    rules: FileIncremental
    lists: FileLists

    def after(self, start: FilePosition, run_id: str) -> FileBatch | None:
        """The next batch; none where there is no new file."""
        return self._batch(start, self.lists.chain(start.list), run_id, self.rules)

    def whole(self, empty: Chain, run_id: str) -> FileBatch | None:
        """All files there are as one batch, whatever was read before."""
        rules = self.rules.model_copy(update={"max_files_per_batch": None, "max_bytes_per_batch": None})
        return self._batch(FilePosition(), empty, run_id, rules)

    def _batch(self, start: FilePosition, chain: Chain, run_id: str, rules: FileIncremental) -> FileBatch | None:
        listing, known = self.wanted.listed(self.access), chain.files
        fresh = [*unread(listing.files.values(), known, start), *_changed(listing, known, rules)]
        ripe = settled(fresh, rules, now=datetime.now(UTC))
        files = tuple(limited(ripe, rules))
        if not files:
            return None
        end = start.after(files, self.lists.new_name(run_id))
        return FileBatch(files=files, listing=listing, chain=chain, end=end, more=len(files) < len(ripe))

    def require_unchanged(self, batch: FileBatch) -> None:
        """See that the files are still those that were listed: what was read of others is nobody's rows."""
        now = self.wanted.listed(self.access).files
        other = [file for file in batch.files if file.name not in now or not file.same_as(now[file.name])]
        if other:
            raise ChangedMeanwhileError([batch.listing.path(file.name) for file in other])

    def settle(self, batch: FileBatch) -> None:
        """Write down what the commit will name, once all rows have been read."""
        self.require_unchanged(batch)
        assert batch.end.list is not None
        self.lists.write(batch.end.list, batch.chain.followed_by(batch.files))
        failpoints.reach("after_list")
        # A batch that begins anew does not know which lists count until it has landed.
        if batch.chain.lists:
            with suppress(UnreachableError):  # a later run removes what is left
                self.lists.clear(batch.chain)


def unread(files: Iterable[Stored], known: Mapping[str, Stored], start: FilePosition) -> Iterator[Stored]:
    """Files whose names are new."""
    since = None if start.since is None else instant(start.since)
    return (file for file in files if file.name not in known and (since is None or _moment(file) >= since))


def _changed(listing: Listing, known: Mapping[str, Stored], rules: FileIncremental) -> list[Stored]:
    files = listing.files.values()
    changed = [file for file in files if file.name in known and not file.same_as(known[file.name])]
    if changed and rules.on_changed == "fail":
        raise ChangedError([listing.path(file.name) for file in changed])
    return changed


def settled(files: Iterable[Stored], rules: FileIncremental, *, now: datetime) -> list[Stored]:
    """Files that nobody is writing any more, as far as their age tells; the oldest first."""
    least = duration(rules.min_age)
    return sorted(
        (file for file in files if not least or now - _moment(file) >= least),
        key=lambda file: (file.modified, file.name),
    )


def limited(files: Sequence[Stored], rules: FileIncremental) -> Iterator[Stored]:
    """As many as one batch may hold, but one at least."""
    size = 0
    for file in files[: rules.max_files_per_batch]:
        if size and rules.max_bytes_per_batch is not None and size + file.size > rules.max_bytes_per_batch:
            return
        size += file.size
        yield file


def between(files: Iterable[Stored], start: datetime, end: datetime) -> list[Stored]:
    """Files that were written from one time up to another."""
    return [file for file in files if start <= _moment(file) < end]


def counted(number: int) -> str:
    """A number of files, as people read it."""
    return "1 file" if number == 1 else f"{number:,} files"


def _moment(file: Stored) -> datetime:
    return _START + timedelta(microseconds=file.modified // 1000)


def _such_as(names: Sequence[str]) -> str:
    more = f" and {counted(len(names) - MOST_SHOWN)} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(names[:MOST_SHOWN]) + more


class ChangedError(RefusedError):
    """Files that were read have changed since, and nobody said what to do then."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"Files have changed since they were read: {_such_as(names)}.",
            hint="Read them again with onChanged: reread, into an Upsert if their rows are not to be there twice; or "
            "load everything anew with `deltaworks run FILE --full-refresh`.",
        )


class ChangedMeanwhileError(RunError):
    """Files changed or went while they were read; nothing was written."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"Files changed or went while they were read: {_such_as(names)}.",
            hint="Nothing was written: run it again. If files take long to write, give incremental a minAge.",
        )
