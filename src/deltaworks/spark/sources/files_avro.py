"""The columns of Avro files together: Spark takes those of one file, and passes over what others have besides."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import unquote

from deltaworks.errors import ConfigError
from deltaworks.lake.globs import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_AT_ONCE = 8  # files that are asked for their columns


def columns_of_all(spark: SparkSession, rows: DataFrame, options: Mapping[str, str]) -> StructType:
    """The columns of the rows and those that only some of their files have; each file is opened once for it."""

    def columns(file: str) -> StructType:
        return spark.read.format("avro").options(**alone).load(escaped(file)).schema

    # Alone, a file is to tell its own columns and not those of its folders.
    alone = {name: value for name, value in options.items() if name.lower() != "basepath"}
    files = [unquote(uri) for uri in rows.inputFiles()]
    if len(files) < 2:
        return rows.schema
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return merged(rows.schema, zip(files, pool.map(columns, files), strict=True))


def merged(columns: StructType, files: Iterable[tuple[str, StructType]]) -> StructType:
    """Columns and, behind them, those of files, which have to be of one type wherever they are."""
    from pyspark.sql.types import StructType

    found = {field.name.lower(): field for field in columns}
    for file, own in files:
        for field in own:
            known = found.setdefault(field.name.lower(), field).dataType.simpleString()
            if known != field.dataType.simpleString():
                kind = field.dataType.simpleString()
                raise OtherTypesError(f"Column {field.name!r} is {kind} in {file} and {known} in a file before it")
    return StructType(list(found.values()))


class OtherTypesError(ConfigError):
    """A column has not the same type in all files, and nobody said which one counts."""

    def __init__(self, said: str) -> None:
        super().__init__(f"{said}.", hint="Give a schema, which says the type for all files.")
