"""What every transform has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from deltaworks.lake.model import Step
from deltaworks.spark.errors import ColumnNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import DataFrame

Inputs: TypeAlias = "Mapping[str, DataFrame]"
NO_INPUTS: Inputs = MappingProxyType({})


class Transform(Step, ABC):
    """Rows in, rows out; nothing remembered."""

    nested_under: ClassVar[str] = "parameters"
    outer: ClassVar[frozenset[str]] = frozenset({"type"})
    gathers: ClassVar[bool] = False  # makes one row of many; rows read are counted before it

    type: str
    """Which transform this is."""

    @property
    def uses(self) -> tuple[str, ...]:
        """The inputs it names."""
        return ()

    @property
    def repeats(self) -> bool:
        """Whether it gives the same rows, at little cost, however often it is asked."""
        return False

    @abstractmethod
    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """The changed rows, lazily; `inputs` are the other rows the pipeline reads, by name."""

    @abstractmethod
    def describe(self) -> str:
        """What it does, in one line."""


def require_columns(rows: DataFrame, wanted: Iterable[str]) -> None:
    """Refuse names that are not columns of the rows, saying which are."""
    there = {name.lower() for name in rows.columns}
    missing = next((name for name in wanted if name.lower() not in there), None)
    if missing is not None:
        raise ColumnNotFoundError(missing, rows.columns)
