"""What a source has that can go on where the last batch ended."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deltaworks.errors import ConfigError
from deltaworks.vault.storage import Access

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.spark.sources.base import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """Rows as a source delivered them, and where that leaves off."""

    rows: DataFrame
    said: str  # what was read, in one line
    end: Any = None  # the position behind them, in plain values of JSON
    more: bool = False  # all that was there did not fit into one batch
    repeats: bool = False  # looking again gives the same rows
    unreadable: DataFrame | None = None  # records to set aside, each as `reason` and `row`
    remarks: tuple[str, ...] = ()  # what a person should know about what was read
    settle: Callable[[], None] | None = None  # to be called when all rows were read, before they land; may refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked of a source: what follows a position, for one way of writing."""

    position: Any  # where the last batch ended
    scratch: Callable[[str], str]  # a folder for rows that are looked at more than once, by an id of its own
    run_id: str
    once: bool = True  # a row that was delivered must not come again: it would be there twice, or replace others
    whole: bool = False  # all there is, however much
    looks: bool = False  # only to plan: nothing lands, so that the position behind it need not be known
    access: Access = field(default_factory=Access)  # the way to that folder


class Continues(ABC):
    """A source that can go on where the last batch ended."""

    @abstractmethod
    def identity(self) -> str:
        """Which source this is, however it is reached: a position of another one means nothing here."""

    @abstractmethod
    def beginning(self) -> Any:
        """The position before the first row."""

    @abstractmethod
    def require_there(self, position: Any) -> None:
        """Refuse a position from which the source cannot go on without losing or doubling rows."""

    @abstractmethod
    def end(self) -> Any:
        """The position behind the last row there is now."""

    @abstractmethod
    def told(self, position: Any) -> str:
        """A position as people read it."""

    def understood(self, text: str) -> Any:
        """A position as people write it; refuses text that is none of this source."""
        position = position_of(text)
        with understanding(text):
            self.told(position)
        return position

    def nothing_follows(self, request: Request) -> bool:
        """Whether nothing follows a position, where that can be told without Spark."""
        return bool(self.end() == request.position)

    @abstractmethod
    def following(self, spark: SparkSession, request: Request) -> AbstractContextManager[Delivered | None]:
        """What follows a position, as one batch; none where nothing does."""

    @abstractmethod
    def between(self, start: str, end: str) -> Source:
        """The source of the rows of a range, which is no incremental one."""


def position_of(text: str) -> Any:
    """The value of JSON that a position was written as."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NoPositionError(text, f"it is no JSON: {error}") from error


@contextmanager
def understanding(text: str) -> Iterator[None]:
    """Say of what a source cannot make sense of that it is no position there."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise NoPositionError(text, "it has another shape") from error


class NoPositionError(ConfigError):
    """What somebody wrote is not a position of the source."""

    def __init__(self, text: str, why: str, hint: str = "") -> None:
        super().__init__(
            f"{text if len(text) <= 100 else f'{text[:99]}…'} is no position of this source: {why}.",
            hint=hint or "Write it as `deltaworks state show FILE --json` does; null is the beginning.",
        )


class Streamed(Continues):
    """A source that Spark itself follows, as a stream."""

    @abstractmethod
    def stream(self, spark: SparkSession) -> DataFrame:
        """The stream; where it begins is said by its checkpoint."""

    @abstractmethod
    def to_offset(self, position: Any) -> str:
        """A position as Spark writes it into a checkpoint."""

    @abstractmethod
    def of_offset(self, offset: str, before: Any) -> Any:
        """The position that Spark wrote into a checkpoint; what it does not tell is as in the one before."""

    @abstractmethod
    def delivered(self, rows: DataFrame, start: Any, end: Any) -> Delivered:
        """One batch of the stream."""
