"""Tables by name, in the session's catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, WithJsonSchema

from deltaworks.errors import ConfigError
from deltaworks.lake.model import problem
from deltaworks.lake.sql import literal, quoted
from deltaworks.lake.storage import local_path, one_spelling
from deltaworks.spark.errors import explained

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Each part is a word, in which {table} may stand for the name of one of several tables.
_NAME = r"^(\w|\{table\})([\w-]|\{table\})*(\.(\w|\{table\})([\w-]|\{table\})*){0,2}"
TableName = Annotated[
    str,
    Field(pattern=rf"{_NAME}$"),
    WithJsonSchema({"type": "string", "pattern": rf"{_NAME}$|\$\{{"}),
]
"""`name`, `schema.name` or `catalog.schema.name`."""


def require_one_place(path: str, table: str | None) -> None:
    """Refuse a table that has both a path and a name, or neither."""
    if path and table:
        raise problem("path and table are both given", "Leave one of them out.")
    if not path and not table:
        raise problem("path is missing", "Add path, or table with the name of a table.")


def location(spark: SparkSession, name: str) -> str:
    """Where a named table is, or would be made."""
    with explained(f"table {name}"):
        if spark.catalog.tableExists(spelled(name)):
            return _located(spark, name)
        schema, _, table = name.rpartition(".")
        found = spark.catalog.getDatabase(spelled(schema) if schema else spark.catalog.currentDatabase())
    return _plain(f"{found.locationUri.rstrip('/')}/{table.lower()}")


def register(spark: SparkSession, name: str, path: str) -> None:
    """Tell the catalog of a table it does not know, such as one that an earlier session made."""
    if not spark.catalog.tableExists(spelled(name)):
        spark.sql(f"CREATE TABLE IF NOT EXISTS {spelled(name)} USING delta LOCATION {literal(path)}")


def spelled(name: str) -> str:
    """A dotted name as SQL spells it."""
    return ".".join(map(quoted, name.split(".")))


def _located(spark: SparkSession, name: str) -> str:
    detail = spark.sql(f"DESCRIBE DETAIL {spelled(name)}").collect()[0]
    if detail["format"] != "delta":
        raise ConfigError(f"{name} is a {detail['format']} table.", hint="Name a Delta table.")
    return _plain(detail["location"])


def _plain(uri: str) -> str:
    path = local_path(uri)
    return one_spelling(uri) if path is None else str(path)
