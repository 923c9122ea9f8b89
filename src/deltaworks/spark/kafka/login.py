"""Where a Kafka cluster is and who asks there: one login, spelled for Spark's Java client and for librdkafka."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.spark.kafka.pem import certificates, private_key
from deltaworks.vault.storage.settings import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaworks.vault.credential import Credential

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
MECHANISMS = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": _SCRAM,
    "SCRAM-SHA-512": _SCRAM,
}
PORT = 9092

# By our names, with Kafka's own and librdkafka's.
_VALUES = Vocabulary(
    prefixes=("kafka.",),
    names={
        "type": frozenset(),
        "bootstrap_servers": frozenset({"servers", "brokers"}),
        "endpoint": frozenset(),
        "host": frozenset(),
        "port": frozenset(),
        "security_protocol": frozenset({"protocol"}),
        "mechanism": frozenset({"saslmechanism", "saslmechanisms"}),
        "username": frozenset({"user", "saslusername"}),
        "password": frozenset({"saslpassword"}),
        "ca": frozenset({"sslcapem", "ssltruststorecertificates"}),
        "certificate": frozenset({"sslcertificatepem", "sslkeystorecertificatechain"}),
        "key": frozenset({"sslkeypem", "sslkeystorekey"}),
        "key_password": frozenset({"sslkeypassword"}),
    },
    secret=frozenset({"password", "key", "key_password"}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a pipeline file says of the way to a cluster."""

    servers: str | None = None
    protocol: str | None = None
    mechanism: str | None = None
    identification: str | None = None  # how a server's name is compared with its certificate; empty: not at all


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """The way to a cluster."""

    servers: str
    protocol: str = "PLAINTEXT"
    mechanism: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca: str | None = field(default=None, repr=False)
    certificate: str | None = field(default=None, repr=False)
    key: str | None = field(default=None, repr=False)
    identification: str | None = None
    notes: tuple[str, ...] = ()  # what a person should know before the run

    def to_spark(self) -> dict[str, str]:
        """Spell it as Spark's options, for Kafka's Java client."""
        found = {
            "bootstrap.servers": self.servers,
            "security.protocol": self.protocol,
            "sasl.mechanism": self.mechanism,
            "sasl.jaas.config": self._jaas(),
            "ssl.truststore.type": self.ca and "PEM",
            "ssl.truststore.certificates": self.ca,
            "ssl.keystore.type": self.key and "PEM",
            "ssl.keystore.certificate.chain": self.certificate,
            "ssl.keystore.key": self.key,
            "ssl.endpoint.identification.algorithm": self.identification,
        }
        return {f"kafka.{name}": value for name, value in found.items() if value is not None}

    def to_librdkafka(self) -> dict[str, str]:
        """Spell it as librdkafka's configuration."""
        found = {
            "bootstrap.servers": self.servers,
            "security.protocol": self.protocol,
            "sasl.mechanism": self.mechanism,
            "sasl.username": self.username,
            "sasl.password": self.password,
            "ssl.ca.pem": self.ca,
            "ssl.certificate.pem": self.certificate,
            "ssl.key.pem": self.key,
            "ssl.endpoint.identification.algorithm": "none" if self.identification == "" else self.identification,
        }
        return {name: value for name, value in found.items() if value is not None}

    def _jaas(self) -> str | None:
        if self.mechanism is None:
            return None
        who = f"username={_in_jaas(self.username or '')} password={_in_jaas(self.password or '')}"
        return f"{MECHANISMS[self.mechanism]} required {who};"


def _in_jaas(text: str) -> str:
    """A text between quotes, as Java reads it there."""
    signs = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
    return '"' + "".join(signs.get(sign, sign) for sign in text) + '"'


# What Java writes of a login when it shows the settings it was given.
TO_HIDE = (
    r"sasl\.jaas\.config=[^\"]*\"(?:[^\"\\]|\\.)*\"[^\"]*\"(?:[^\"\\]|\\.)*\";"
    r"|(?s:-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----)"
)


def login_of(credential: Credential | None, said: Said) -> Login:
    """The way to a cluster; what the credential says of it wins over the file."""
    values = _values(credential)
    servers = _servers(values) or said.servers
    if not servers:
        raise ConfigError(
            "Nobody says where the Kafka cluster is.",
            hint="Write kafka.bootstrap.servers, or keep bootstrap_servers in the credential.",
        )
    _require_pair(credential, values, "username", "password")
    _require_pair(credential, values, "certificate", "key")
    protocol = _protocol(values, said)
    return Login(
        servers=servers,
        protocol=protocol,
        mechanism=_mechanism(values, said) if protocol.startswith("SASL_") else None,
        username=values.get("username"),
        password=values.get("password"),
        ca=values.get("ca") and certificates(values["ca"], "ca"),
        certificate=values.get("certificate") and certificates(values["certificate"], "certificate"),
        key=values.get("key") and private_key(values["key"], values.get("key_password")),
        identification=said.identification,
        notes=tuple(_notes(credential, servers, protocol, said)),
    )


def _values(credential: Credential | None) -> dict[str, str]:
    return {name: each.value for name, each in _VALUES.of_credential(credential).items() if each.value}


def _servers(values: Mapping[str, str]) -> str | None:
    found = values.get("bootstrap_servers") or values.get("endpoint") or values.get("host")
    if found is None:
        return None
    bare = re.sub(r"\b\w+://", "", found)
    with_port = f"{bare}:{values.get('port', PORT)}"
    return bare if ":" in bare.rpartition("]")[2] else with_port


def _require_pair(credential: Credential | None, values: Mapping[str, str], one: str, other: str) -> None:
    missing = [name for name in (one, other) if name not in values]
    if credential is not None and len(missing) == 1:
        there = one if missing == [other] else other
        raise ConfigError(
            f"Credential {credential.credential_id!r} has {there} but no {missing[0]}.",
            hint=f"Add {missing[0]}, or leave out {there}.",
        )


def _protocol(values: Mapping[str, str], said: Said) -> str:
    """How the cluster is spoken to: what is said, or what the login needs; refuses one without the other."""
    login, tls = "username" in values, "ca" in values or "certificate" in values
    derived = PROTOCOLS[2 * login + tls]
    found = (values.get("security_protocol") or said.protocol or derived).upper()
    if found not in PROTOCOLS:
        raise ConfigError(f"security_protocol is {found!r}, which is unknown.", hint=f"Known: {', '.join(PROTOCOLS)}.")
    if login != found.startswith("SASL_"):
        with_or_without = "without username and password" if not login else "with username and password"
        raise ConfigError(
            f"security_protocol is {found}, {with_or_without}.",
            hint="A login needs SASL_SSL or SASL_PLAINTEXT; keep username and password in a credential.",
        )
    if tls and not found.endswith("SSL"):
        raise ConfigError(f"security_protocol is {found}, with certificates.", hint=f"Use {derived}.")
    return found


def _mechanism(values: Mapping[str, str], said: Said) -> str:
    found = (values.get("mechanism") or said.mechanism or "PLAIN").upper()
    if found not in MECHANISMS:
        raise ConfigError(
            f"Logging in to Kafka by {found!r} is not possible here.", hint=f"Use {', '.join(MECHANISMS)}, or TLS."
        )
    return found


def _notes(credential: Credential | None, servers: str, protocol: str, said: Said) -> list[str]:
    found = []
    if credential is not None and said.servers not in {None, servers}:
        who = f"credential {credential.credential_id!r}"
        found.append(f"bootstrap_servers is {servers}, as {who} says; the file says {said.servers}")
    if protocol == "SASL_PLAINTEXT":
        found.append("nothing is encrypted on the way to Kafka; security_protocol: SASL_SSL would do that")
    return found
