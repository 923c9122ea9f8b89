"""What every transform has."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from deltaworks.errors import ConfigError
from deltaworks.lake.model import Flag, Step
from deltaworks.lake.sql import quoted
from deltaworks.spark.errors import ColumnNotFoundError
from deltaworks.spark.kinds import fit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

Inputs: TypeAlias = "Mapping[str, DataFrame]"
NO_INPUTS: Inputs = MappingProxyType({})


class Transform(Step, ABC):
    """Rows in, rows out; nothing remembered."""

    nested_under: ClassVar[str] = "parameters"
    outer: ClassVar[frozenset[str]] = frozenset({"type", "perBatch"})
    wants_all: ClassVar[bool] = False  # what it gives depends on other rows, of which a batch has only some
    gathers: ClassVar[bool] = False  # makes one row of many; rows read are counted before it
    multiplies: ClassVar[bool] = False  # may make several rows of one, of which none is the newest

    type: str
    """Which transform this is."""
    per_batch: Flag = False
    """In an incremental pipeline: let it see the rows of one batch only."""

    @property
    def uses(self) -> tuple[str, ...]:
        """The inputs it names."""
        return ()

    @property
    def repeats(self) -> bool:
        """Whether it gives the same rows, at little cost, however often it is asked."""
        return False

    @property
    def keeps_order(self) -> bool:
        """Whether rows still tell, after it, which is the newer one; where not, it does not see the column for that."""
        return not self.gathers

    @abstractmethod
    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """The changed rows, lazily; `inputs` are the other rows the pipeline reads, by name."""

    @abstractmethod
    def describe(self) -> str:
        """What it does, in one line."""


def names_all(*sql: str) -> bool:
    """Whether an expression says `*` for all columns, as in `struct(*)`."""
    counted = re.compile(r"\bcount\s*\(\s*\*\s*\)", re.IGNORECASE)
    return any(re.search(r"[(,]\s*(\w+\s*\.\s*)?\*", counted.sub("", each)) for each in sql)


def require_columns(rows: DataFrame, wanted: Iterable[str]) -> None:
    """Refuse names that are not columns of the rows, saying which are."""
    there = {name.lower() for name in rows.columns}
    missing = next((name for name in wanted if name.lower() not in there), None)
    if missing is not None:
        raise ColumnNotFoundError(missing, rows.columns)


def column_of(rows: DataFrame, name: str) -> StructField:
    """The column of that name, which ignores case; refuses a name that is not there."""
    require_columns(rows, [name])
    return next(field for field in rows.schema if field.name.lower() == name.lower())


def require_fit(ours: StructField, theirs: StructField, name: str, *, hint: str) -> None:
    """Refuse a column whose types in the rows and in an input do not go together, saying both."""
    if not fit(ours.dataType, theirs.dataType):
        here, there = ours.dataType.simpleString(), theirs.dataType.simpleString()
        raise ConfigError(f"Column {ours.name!r} is {here} in the rows and {there} in {name!r}.", hint=hint)


def said_twice(names: Iterable[str]) -> str | None:
    """The first name that stands there twice for Spark, which ignores case."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            return name
        seen.add(name.lower())
    return None


def refuse_twice(names: Iterable[str], *, hint: str) -> None:
    """Refuse a result with two columns of one name, saying which."""
    if (name := said_twice(names)) is not None:
        raise ConfigError(f"Two columns would be called {name!r}.", hint=hint)


def with_columns(there: Iterable[str], new: Mapping[str, str]) -> list[str]:
    """What to select for the columns there and new ones by name, each in its old place or at the end."""
    values = {name.lower(): f"{value} AS {quoted(name)}" for name, value in new.items()}
    kept = [values.pop(name.lower(), quoted(name)) for name in there]
    return [*kept, *values.values()]
