"""Google Cloud Storage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from deltaworks.errors import ConfigError
from deltaworks.vault.storage.base import Access, Sources
from deltaworks.vault.storage.settings import Vocabulary, below

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEY = "service_account_key"
_VOCABULARY = Vocabulary(
    prefixes=("google_",),
    names={
        "type": frozenset(),
        "service_account": frozenset({"serviceaccountpath", "applicationcredentials", "keyfile"}),
        _KEY: frozenset({"serviceaccountjson"}),
    },
    secret=frozenset({_KEY}),
    identity=frozenset({"service_account"}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GcsAccess(Access):
    """The way to one bucket: by a service account's key or its file, else by the machine's own account."""

    key_file: str | None = None
    key: SecretStr | None = None
    for_hadoop: Mapping[str, str] = field(default_factory=dict)
    for_object_store: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, uri: str, sources: Sources) -> GcsAccess:
        """Find out how a bucket is reached."""
        settings, key = _VOCABULARY.settled(sources), None
        if text := settings.get(_KEY):
            key = SecretStr(text)
        return cls(
            place=f"gs://{urlsplit(uri).netloc}",
            credential_id=sources.credential.credential_id if sources.credential else None,
            notes=settings.notes,
            key_file=settings.get("service_account"),
            key=key,
            for_hadoop=below(sources.options, "fs.gs."),
            for_object_store=_VOCABULARY.beyond({**_VOCABULARY.prefixed(sources.options), **sources.given}),
        )

    def to_hadoop(self) -> dict[str, str]:
        """Spell it as the connector's settings; it knows one account for all buckets."""
        if self.key and not self.key_file:
            raise ConfigError(
                f"Spark reads the service account for {self.place} from a file only.",
                hint="Save the key to a file and give its path as service_account.",
            )
        found = {"auth.type": "APPLICATION_DEFAULT"}
        if self.key_file:
            keyfile = {"auth.service.account.json.keyfile": self.key_file}
            found = {"auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE", **keyfile}
        return {f"fs.gs.{name}": value for name, value in {**self.for_hadoop, **found}.items()}

    def to_object_store(self) -> dict[str, str]:
        """Spell it as delta-rs's options."""
        file = {"google_service_account": self.key_file} if self.key_file else {}
        key = {f"google_{_KEY}": self.key.get_secret_value()} if self.key else {}
        return {**self.for_object_store, **(key or file)}

    def secrets(self) -> frozenset[str]:
        """The key."""
        return frozenset({self.key.get_secret_value()}) if self.key else frozenset()
