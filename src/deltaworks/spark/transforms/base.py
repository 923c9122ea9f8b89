"""What every transform has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from deltaworks.lake.model import Step
from deltaworks.spark.errors import ColumnNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame


class Transform(Step, ABC):
    """Rows in, rows out; nothing remembered."""

    nested_under: ClassVar[str] = "parameters"
    outer: ClassVar[frozenset[str]] = frozenset({"type"})
    gathers: ClassVar[bool] = False  # makes one row of many; rows read are counted before it

    type: str
    """Which transform this is."""

    @abstractmethod
    def apply(self, rows: DataFrame) -> DataFrame:
        """The changed rows, lazily."""

    @abstractmethod
    def describe(self) -> str:
        """What it does, in one line."""


def require_columns(rows: DataFrame, wanted: Iterable[str]) -> None:
    """Refuse names that are not columns of the rows, saying which are."""
    there = {name.lower() for name in rows.columns}
    missing = next((name for name in wanted if name.lower() not in there), None)
    if missing is not None:
        raise ColumnNotFoundError(missing, rows.columns)
