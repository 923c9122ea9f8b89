"""What a source and a sink of a database have in common: which database it is, and how Spark reaches it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, Field, PrivateAttr
from pydantic.alias_generators import to_camel

from deltaworks.lake.model import Location, Whole, as_problem, problem
from deltaworks.spark.connector import Connector, unless_said
from deltaworks.spark.databases import database_of
from deltaworks.spark.databases.address import (
    Address,
    encryption,
    parsed,
    refuse_dangerous,
    refuse_java_only,
    settled,
)
from deltaworks.spark.databases.base import Relation
from deltaworks.vault.storage import Access

if TYPE_CHECKING:
    from deltaworks.spark.databases import Database
    from deltaworks.spark.surroundings import Surroundings

# Spark's names of options that are keys of their own here.
HAVE_A_KEY = {
    "url": "url",
    "dbtable": "table",
    "query": "query",
    "driver": "driver",
    "fetchsize": "fetchSize",
    "sessioninitstatement": "sessionInitStatement",
    "partitioncolumn": "partitionColumn",
    "numpartitions": "connections",
}


def _checked(url: str) -> str:
    with as_problem():
        parsed(url)
    return url


JdbcUrl = Annotated[str, AfterValidator(_checked)]


class JdbcConnector(Connector):
    """One end of a pipeline that is a database."""

    host: str | None = None
    """The server. A credential's host wins over this one, and so for port and database."""
    port: Annotated[Whole, Field(ge=1, le=65535)] | None = None
    """Its port; the usual one of the database where none is given."""
    database: str | None = None
    """The database there."""
    url: JdbcUrl | None = None
    """All that as one JDBC url, without a login: `jdbc:postgresql://host:5432/database`."""
    driver: str | None = None
    """The class of the driver, for a `JDBC` url that is neither PostgreSQL's nor MySQL's; Spark needs its jar."""
    ssl_mode: Literal["disable", "prefer", "require", "verify-ca", "verify-full"] | None = None
    """Whether to encrypt, and what to verify: `disable`, `prefer`, `require`, `verify-ca` or `verify-full`."""
    ssl_root_cert: Location | None = None
    """The file with the certificates that are trusted."""
    schema_name: str | None = None
    """The schema of the table; for MySQL, another database."""
    table: str | None = None
    """The table, as `name` or `schema.name`."""

    _address: Address | None = PrivateAttr(default=None)

    @property
    @abstractmethod
    def kind(self) -> str:
        """Its type, as the file says."""

    def check_place(self) -> None:
        """Refuse an address that is not whole, or that says two things."""
        with as_problem():
            refuse_dangerous(self.options)
        said = next((name for name in self.options if name.lower() in HAVE_A_KEY), None)
        if said:
            key = HAVE_A_KEY[said.lower()]
            raise problem(f"The option {said!r} is a key of its own", f"Write {key} under connectionParams.")
        self._check_url()
        if not self.url and not self.host and not self.credential_id:
            raise problem("host is missing", "Add host and database, or url, or a credentialId that has them.")

    def _check_url(self) -> None:
        if self.kind == "JDBC" and not self.url:
            raise problem("url is missing", "Add url, or write PostgreSQL or MySQL for the type.")
        if not self.url:
            return
        url = parsed(self.url)
        scheme = url.scheme
        if self.kind != "JDBC" and database_of(scheme) is not database_of(self.kind):
            raise problem(f"A {self.kind} connector has a url of {scheme}", "Write JDBC for the type, or another url.")
        known = database_of(scheme) is not None
        if known:
            with as_problem():
                refuse_java_only(url)
        of_url = ("host", "port", "database", *(encryption(url) if known else ()))
        twice = next((name for name in of_url if getattr(self, name) is not None), None)
        if twice:
            raise problem(f"{to_camel(twice)} is given beside url", "Leave one of them out.")
        if not known and not self.driver:
            raise problem(f"driver is missing: a url of {scheme} does not tell it", "Add the driver's class.")

    @property
    def known(self) -> Database | None:
        """The database, where it is one we know."""
        return database_of(parsed(self.url).scheme if self.kind == "JDBC" and self.url else self.kind)

    @property
    def jar_groups(self) -> frozenset[str]:
        """That of the database's driver."""
        return frozenset({self.known.jar_group}) if self.known else frozenset()

    @property
    def place(self) -> str:
        """The table as a URI of its own, by which pipelines are put in order."""
        where = self.url or f"{self.host or self.credential_id}:{self.port or ''}/{self.database or ''}"
        name = self.known.name if self.known else "jdbc"
        return f"{name.lower()}://{where}/{self.relation().said.partition(' ')[2]}"

    def located(self, around: Surroundings) -> Self:
        """This end with its address known."""
        credential, database = around.credential(self.credential_id), self.known
        said = {"host": self.host, "port": self.port, "database": self.database}
        said |= {"ssl_mode": self.ssl_mode, "ssl_root_cert": self.ssl_root_cert}
        url = parsed(self.url) if self.url else None
        given = {name: str(value) for name, value in said.items() if value is not None}
        found = self.reached_by(Access())
        found._address = settled(given, credential, url, database.port if database else None)
        return found

    @property
    def address(self) -> Address:
        """Where the database is, once it is located."""
        assert self._address is not None, "it is located first"
        return self._address

    @property
    def notes(self) -> tuple[str, ...]:
        """Where the credential wins over the file."""
        return self._address.notes if self._address else ()

    def relation(self) -> Relation:
        """The table that is meant."""
        schema, dot, name = (self.table or "").rpartition(".")
        if self.schema_name is None and dot:
            return Relation(table=name, schema=schema)
        return Relation(table=self.table, schema=self.schema_name)

    def connection(self) -> dict[str, str]:
        """How Spark reaches it: url, driver, login and whatever else the driver is told."""
        database, address = self.known, self.address
        if database is None:
            own = {"url": self.url or "", "driver": self.driver or "", **address.login()}
        else:
            own = {"url": database.url(address), "driver": database.driver, **database.properties(address)}
        return unless_said(own, self.spark_options())
