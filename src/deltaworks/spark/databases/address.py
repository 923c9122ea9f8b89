"""Where a database is and who asks, built from fields: a url is taken apart first, and never handed on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import SecretStr

from deltaworks.errors import ConfigError
from deltaworks.vault.storage.settings import FILE, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deltaworks.vault.credential import Credential

_SCHEMA, _BEGIN = "Write schemaName under connectionParams.", "Write sessionInitStatement under connectionParams."
_ONLY_JAVA = {"currentschema": _SCHEMA, "options": _BEGIN, "sessionvariables": _BEGIN}
_ENCRYPTION = re.compile("ssl|tls|trust")
_SSL_NAMES = {"sslmode": "ssl_mode", "sslrootcert": "ssl_root_cert", "serversslcert": "ssl_root_cert"}
# As drivers of MySQL and MariaDB call them.
_SSL_WORDS = {
    "disabled": "disable",
    "preferred": "prefer",
    "required": "require",
    "trust": "require",
    "verify-identity": "verify-full",
}
SSL_MODES = ("disable", "prefer", "require", "verify-ca", "verify-full")
_VOCABULARY = Vocabulary(
    prefixes=(),
    names={
        "type": frozenset(),
        "host": frozenset({"hostname", "server", "endpoint"}),
        "port": frozenset(),
        "database": frozenset({"dbname", "db"}),
        "user": frozenset({"username", "login"}),
        "password": frozenset({"passwd"}),
        "ssl_mode": frozenset(),
        "ssl_root_cert": frozenset(),
    },
    secret=frozenset({"password"}),
)
# Names of properties by which a driver loads a class, reads or writes a file, or runs a statement of its own.
_DANGEROUS = re.compile(
    r"factory|interceptor|deserializ|infile|plugin|logger|callback|verifier|jaas|^init|classname|loader|socket"
    r"|trustxml|xmlfactory|profile(sql|handler)|propertiestransform|serverrsa|servicename|includedriver|tracefile",
    re.IGNORECASE,
)
_WHO = re.compile(r"^(user(name)?|pass(word|wd)?|.*(password|secret|token).*)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """One database, and the login there."""

    host: str
    port: int
    database: str
    user: str | None = None
    password: SecretStr | None = None
    ssl_mode: str | None = None
    ssl_root_cert: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)  # more of the driver's, from the url
    notes: tuple[str, ...] = ()

    def login(self) -> dict[str, str]:
        """User and password, those that there are."""
        secret = self.password.get_secret_value() if self.password else None
        return {name: value for name, value in (("user", self.user), ("password", secret)) if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """A JDBC url taken apart."""

    scheme: str
    host: str | None
    port: int | None
    database: str | None
    properties: Mapping[str, str]


def parsed(text: str) -> Url:
    """Take a JDBC url apart; refuses a login in it, and properties that make a driver do more than connect."""
    found = re.match(r"jdbc:([A-Za-z0-9+.-]+):(.*)$", text, re.DOTALL)
    if found is None:
        raise ConfigError("url is no JDBC url.", hint="Write jdbc:postgresql://host:5432/database or the like.")
    parts = urlsplit("x:" + re.split("[?;]", found[2], maxsplit=1)[0])
    if "@" in parts.netloc:
        raise ConfigError("url holds a login.", hint="Keep user and password in a credential, and name its id.")
    properties = _properties(found[2])
    refuse_dangerous(properties)
    try:
        port = parts.port
    except ValueError:
        raise ConfigError("url has a port that is no number.", hint="Write host:5432.") from None
    database = unquote(parts.path.lstrip("/")) or None
    return Url(scheme=found[1].lower(), host=parts.hostname, port=port, database=database, properties=properties)


def _properties(rest: str) -> dict[str, str]:
    """What stands behind the first `?` or `;`, whichever way a driver separates it."""
    _, _, query = re.sub(r"[?;]", "?", rest, count=1).partition("?")
    return dict(parse_qsl(query.replace(";", "&").replace("?", "&"), keep_blank_values=True))


def refuse_dangerous(names: Iterable[str]) -> None:
    """Refuse properties of a driver that are not for a file to set."""
    for name in names:
        if _WHO.match(name):
            raise ConfigError(
                f"{name} is no place for a login.", hint="Keep user and password in a credential, and name its id."
            )
        if _DANGEROUS.search(name):
            raise ConfigError(
                f"The driver's property {name} could run code or read files.", hint="Leave it out: it is not allowed."
            )


def refuse_java_only(url: Url) -> None:
    """Refuse properties that Java's driver alone would know: our own connection must mean the same database."""
    for name in (name.lower() for name in url.properties if name.lower() not in _SSL_NAMES):
        if name in _ONLY_JAVA:
            raise ConfigError(f"url has the property {name}, which is a key of its own.", hint=_ONLY_JAVA[name])
        if _ENCRYPTION.search(name):
            raise ConfigError(
                f"url has the property {name}, which only Java's driver knows.",
                hint="Write sslMode and sslRootCert under connectionParams.",
            )


def encryption(url: Url) -> dict[str, str]:
    """Whether to encrypt and whom to trust, as a url says it, by the names of an address."""
    said = {_SSL_NAMES[name.lower()]: value for name, value in url.properties.items() if name.lower() in _SSL_NAMES}
    if "ssl_mode" in said:
        mode = said["ssl_mode"].lower().replace("_", "-")
        said["ssl_mode"] = _SSL_WORDS.get(mode, mode)
    return said


def settled(said: Mapping[str, str], credential: Credential | None, url: Url | None, port: int | None) -> Address:
    """One address out of what the credential, the file and its url say, in this order.

    With a usual port it is one of a database we know, and what is missing is told.
    """
    of_url: dict[str, object] = {"host": url.host, "port": url.port, "database": url.database} if url else {}
    of_url |= encryption(url) if url and port else {}
    file = _VOCABULARY.among({**{k: str(v) for k, v in of_url.items() if v is not None}, **said}, FILE)
    found = _VOCABULARY.first([_VOCABULARY.of_credential(credential), file])
    for name in ("host", "database") if port else ():
        if not found.get(name):
            raise ConfigError(
                f"Nobody says which {name} it is.", hint=f"Add {name} to connectionParams or to the credential."
            )
    password, mode = found.get("password"), found.get("ssl_mode")
    if mode is not None and mode not in SSL_MODES:
        raise ConfigError(f"sslMode is {mode!r}.", hint=f"Known: {', '.join(SSL_MODES)}.")
    return Address(
        host=found.get("host") or "",
        port=_port(found.get("port"), port or 0),
        database=found.get("database") or "",
        user=found.get("user"),
        password=SecretStr(password) if password is not None else None,
        ssl_mode=mode,
        ssl_root_cert=found.get("ssl_root_cert"),
        properties={k: v for k, v in url.properties.items() if k.lower() not in _SSL_NAMES} if url else {},
        notes=found.notes,
    )


def _port(text: str | None, default: int) -> int:
    if text is None:
        return default
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise ConfigError("The port is no number from 1 to 65535.", hint="Write a number such as 5432.")
    return int(text)
