"""What a source and a sink of Kafka have in common: where the cluster is, and how it is spoken to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, PrivateAttr, model_validator

from deltaworks.lake.model import problem
from deltaworks.spark.connector import Connector, spelled
from deltaworks.spark.kafka.login import Login, Said, login_of
from deltaworks.spark.kafka.settings import LOGIN, OTHERS, SERVERS, gathered

if TYPE_CHECKING:
    from deltaworks.spark.surroundings import Surroundings


class KafkaEnd(Connector):
    """One end of a pipeline that is a Kafka cluster."""

    bootstrap_servers: Annotated[str | None, Field(alias=SERVERS, min_length=1)] = None
    """The brokers to ask first, as `host:9092,other:9092`. A credential's `bootstrap_servers` wins over them."""
    settings: Annotated[dict[str, str | int | float | bool], Field(alias=OTHERS)] = Field(default_factory=dict)
    """Any other setting of Kafka's Java client under its own name, as `kafka.fetch.max.bytes: 1000000`. Secrets and
    certificates are for a credential."""

    _login: Login | None = PrivateAttr(default=None)

    @model_validator(mode="before")
    @classmethod
    def _settings_gathered(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        inner = data.get(cls.nested_under)
        return data | {cls.nested_under: gathered(inner)} if isinstance(inner, dict) else data

    @model_validator(mode="after")
    def _cluster_is_known(self) -> Self:
        if not self.bootstrap_servers and not self.credential_id:
            raise problem(
                f"{SERVERS} is missing", f"Add {SERVERS}, or a credentialId whose credential has bootstrap_servers."
            )
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        """Let an editor take every dotted name."""
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        inner = schema["properties"][cls.nested_under]
        text = inner["properties"].pop(OTHERS)["description"]
        inner["patternProperties"] = {r"^kafka\.": {"type": ["string", "number", "boolean"], "description": text}}
        return schema

    @property
    def jar_groups(self) -> frozenset[str]:
        """Kafka's own."""
        return super().jar_groups | {"kafka"}

    def located(self, around: Surroundings) -> Self:
        """This end with the way to its cluster known."""
        found = super().located(around)
        found._login = login_of(around.credential(self.credential_id), self._said())
        return found

    def _said(self) -> Said:
        protocol, mechanism, identification = (self.settings.get(name) for name in LOGIN)
        return Said(
            servers=self.bootstrap_servers,
            protocol=None if protocol is None else spelled(protocol),
            mechanism=None if mechanism is None else spelled(mechanism),
            identification=None if identification is None else spelled(identification),
        )

    @property
    def login(self) -> Login:
        """The way to the cluster, once it is located."""
        assert self._login is not None, "it is located first"
        return self._login

    @property
    def notes(self) -> tuple[str, ...]:
        """Where the credential wins over the file, and whether nothing is encrypted."""
        return (*super().notes, *(self._login.notes if self._login else ()))

    def client_options(self) -> dict[str, str]:
        """How Spark reaches the cluster."""
        own = {name: spelled(value) for name, value in self.settings.items()}
        return own | self.login.to_spark()

    def at(self, topic: str) -> str:
        """A topic as a URI of its own, by which pipelines are put in order."""
        servers = (self.bootstrap_servers or self.credential_id or "").lower().split(",")
        return f"kafka://{','.join(sorted(each.strip() for each in servers))}/{topic}"
