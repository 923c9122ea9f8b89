"""Make columns of the fields of structs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from deltaworks.errors import ConfigError
from deltaworks.lake.model import Columns
from deltaworks.lake.sql import quoted
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs, Transform, column_of, refuse_twice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

Path = tuple[str, ...]


class Flatten(Transform):
    """Make a column of each field of a struct, of the structs in it too; arrays and maps stay as they are."""

    type: Literal["flatten"]
    """`flatten`."""
    columns: Columns | None = None
    """The structs to flatten; all of them if left out."""
    separator: str = "_"
    """What stands between the names of a struct and its field."""

    @property
    def repeats(self) -> bool:
        """It looks at one row at a time."""
        return True

    def apply(self, rows: DataFrame, inputs: Inputs = NO_INPUTS) -> DataFrame:
        """The same rows with the fields as columns, where the struct was."""
        chosen = {name.lower() for name in self._chosen(rows)}
        paths = [path for each in rows.schema for path in (_paths(each) if each.name.lower() in chosen else _top(each))]
        names = [self.separator.join(path) for path in paths]
        refuse_twice(names, hint="Set another `separator`, or rename a column before this.")
        return rows.selectExpr(*(_field(path, name) for path, name in zip(paths, names, strict=True)))

    def describe(self) -> str:
        """The structs."""
        return f"make columns of the fields of {', '.join(self.columns) if self.columns else 'all structs'}"

    def _chosen(self, rows: DataFrame) -> tuple[str, ...]:
        for name in self.columns or ():
            kind = column_of(rows, name).dataType
            if kind.typeName() != "struct":
                raise ConfigError(f"Column {name!r} is {kind.simpleString()}, not a struct.", hint="Leave it out.")
        return self.columns or tuple(rows.columns)


def _paths(field: StructField, above: Path = ()) -> Iterator[Path]:
    from pyspark.sql.types import StructType

    path = (*above, field.name)
    if not isinstance(field.dataType, StructType):
        yield path
        return
    for inner in field.dataType:
        yield from _paths(inner, path)


def _top(field: StructField) -> Iterator[Path]:
    yield (field.name,)


def _field(path: Path, name: str) -> str:
    return f"{'.'.join(map(quoted, path))} AS {quoted(name)}"
