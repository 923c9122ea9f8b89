"""What every source has."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import field_validator, model_validator

from deltaworks.lake.model import FLAG, FileModel, Flag
from deltaworks.spark.connector import Connector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.lake.mode import WriteMode
    from deltaworks.spark.sinks.base import Sink


class Incremental(FileModel):
    """Read only what is new since the last run. `true` where nothing more is to be said."""

    @model_validator(mode="before")
    @classmethod
    def _nothing_more(cls, data: Any) -> Any:
        return {} if data is True or data == "true" else data


class Source(Connector):
    """Where rows come from."""

    outer: ClassVar[frozenset[str]] = frozenset({"sourceType", "credentialId", "options", "incremental", "cache"})

    source_type: str
    """Which kind of source this is."""
    incremental: Incremental | None = None
    """Read only what is new since the last run."""

    cache: Flag = False
    """For an input that is used more than once: read it once and keep its rows for the run."""

    @field_validator("incremental", mode="before")
    @classmethod
    def _or_not(cls, data: Any) -> Any:
        return None if data is False or data == "false" else data

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        """Describe the short spelling of `incremental` too."""
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        schema["properties"]["incremental"]["anyOf"].append(FLAG)
        return schema

    @property
    def repeats(self) -> bool:
        """Whether reading the same span again gives the same rows."""
        return False

    @property
    def several(self) -> bool:
        """Whether it names several tables, each of which is a load of its own."""
        return False

    def parts(self) -> tuple[tuple[str, Self], ...]:
        """Each table by its name, with the source of its rows; it is located."""
        return ()

    @property
    def sets_aside(self) -> bool:
        """Whether records that cannot be read are set aside."""
        return False

    @property
    def tells_changes(self) -> bool:
        """Whether some of its rows say of others that they are gone."""
        return False

    def check_incremental(self, sink: Sink, mode: WriteMode) -> None:
        """Refuse a sink or a way of writing with which this source cannot go on."""

    def for_pipeline(self, pipeline: str, sink: Sink) -> Self:
        """This source, knowing who reads it and where to keep what a position has no room for; both are located."""
        return self

    def toward(self, sink: Sink) -> Self:
        """This source, knowing where its rows go, unchanged by any transform; both are located."""
        return self

    def fixed(self) -> Any:
        """Decide what exactly will be read, before the first action; none where there is nothing to fix."""
        return None

    @contextmanager
    def held(self) -> Iterator[Any]:
        """What exactly will be read, kept there until the end, where somebody could take it away."""
        yield self.fixed()

    def unreadable(self, spark: SparkSession, span: Any) -> DataFrame | None:
        """The records of the span that cannot be read, each as `reason` and `row`, where they are to be set aside."""
        return None

    @abstractmethod
    def read(self, spark: SparkSession, span: Any) -> DataFrame:
        """The rows, lazily; with the column `hidden.ORDER` where a source knows which row is the newer one."""

    def remarks(self, span: Any) -> tuple[str, ...]:
        """What a person should know about what will be read."""
        return ()

    @abstractmethod
    def describe(self, span: Any) -> str:
        """What will be read, in one line."""
