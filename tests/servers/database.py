"""One database of a server, for one test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pymysql
from pymysql.constants import ER

from deltaworks import MemoryVault

if TYPE_CHECKING:
    from tests.servers.mariadb import MariaDbServer
    from tests.servers.postgres import PostgresServer


@dataclass(frozen=True, slots=True)
class TestDatabase:
    """A database that a test has for itself."""

    __test__: ClassVar[bool] = False  # not a class of tests

    kind: str
    server: PostgresServer | MariaDbServer
    name: str

    def run(self, *statements: str) -> None:
        """Carry statements out, each on its own."""
        connection: Any = self.server.connect(self.name)
        with connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What a query gives."""
        connection: Any = self.server.connect(self.name)
        with connection, connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())

    def end(self, connection: int) -> None:
        """End a connection to the server; one that has ended by itself is fine."""
        try:
            self.run(
                f"SELECT pg_terminate_backend({connection})" if self.kind == "PostgreSQL" else f"KILL {connection}"
            )
        except pymysql.err.OperationalError as error:
            if error.args[0] != ER.NO_SUCH_THREAD:
                raise

    @property
    def credential(self) -> dict[str, str]:
        """Where it is and who may use it, as a credential has it."""
        return {
            "host": self.server.host,
            "port": str(self.server.port),
            "database": self.name,
            "username": self.server.user,
            "password": self.server.password,
        }

    def vault(self, **others: dict[str, str]) -> MemoryVault:
        """A vault with the credential `db`, and others."""
        return MemoryVault({"db": self.credential, **others})

    def source(self, **parameters: Any) -> dict[str, Any]:
        """The `extract` part of a pipeline that reads it."""
        return {"sourceType": self.kind, "credentialId": "db", "connectionParams": parameters}

    def sink(self, **parameters: Any) -> dict[str, Any]:
        """The `load` part of a pipeline that writes it."""
        return {"sinkType": self.kind, "credentialId": "db", "connectionParams": parameters}
