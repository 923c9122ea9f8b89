"""Databases that rows are read from and written to, each with its own ways: one file a database."""

from deltaworks.spark.databases.base import Database
from deltaworks.spark.databases.mysql import MYSQL
from deltaworks.spark.databases.postgres import POSTGRES

_KNOWN = {"postgresql": POSTGRES, "mysql": MYSQL, "mariadb": MYSQL}


def database_of(name: str) -> Database | None:
    """The database of this name, a connector's type or the scheme of a JDBC url; none where only Spark knows more."""
    return _KNOWN.get(name.lower())


__all__ = ["Database", "database_of"]
