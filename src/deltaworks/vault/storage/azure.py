"""Azure Data Lake Storage and blobs."""

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

_APPLICATION = ("tenant_id", "client_id", "client_secret")
_VOCABULARY = Vocabulary(
    prefixes=("azure_storage_", "azure_"),
    names={
        "type": frozenset(),
        "account_name": frozenset({"account"}),
        "endpoint": frozenset(),
        "account_key": frozenset({"accesskey", "masterkey"}),
        "sas_token": frozenset({"saskey"}),
        "tenant_id": frozenset({"authorityid"}),
        "client_id": frozenset(),
        "client_secret": frozenset(),
    },
    secret=frozenset({"account_key", "sas_token", "client_secret"}),
    identity=frozenset({"tenant_id", "client_id"}),
)
_OAUTH = "org.apache.hadoop.fs.azurebfs.oauth2"


@dataclass(frozen=True, slots=True, kw_only=True)
class AzureAccess(Access):
    """The way to one container: by a key, a shared access signature or an application, else by the machine's role."""

    account: str
    endpoint: str | None = None
    secrets_by_name: Mapping[str, SecretStr] = field(default_factory=dict)
    application: Mapping[str, str] = field(default_factory=dict)  # its tenant and id, where it has a secret
    for_hadoop: Mapping[str, str] = field(default_factory=dict)
    for_object_store: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, uri: str, sources: Sources) -> AzureAccess:
        """Find out how a container is reached."""
        where, settings = urlsplit(uri), _VOCABULARY.settled(sources)
        settings.require_whole(*_APPLICATION)
        account = (where.hostname or "").partition(".")[0] if where.username else settings.get("account_name")
        if not account:
            raise ConfigError(
                f"{uri} does not say which storage account it is in.",
                hint="Write abfss://container@account.dfs.core.windows.net/path, or give account_name.",
            )
        kind = next((name for name in ("account_key", "sas_token", "client_secret") if settings.get(name)), None)
        return cls(
            place=f"{where.scheme}://{where.netloc}",
            credential_id=sources.credential.credential_id if sources.credential else None,
            notes=settings.notes,
            account=account,
            endpoint=settings.get("endpoint"),
            secrets_by_name={kind: SecretStr(settings.get(kind) or "")} if kind else {},
            application={name: settings.get(name) or "" for name in _APPLICATION[:2]}
            if kind == _APPLICATION[2]
            else {},
            for_hadoop=below(sources.options, "fs.azure."),
            for_object_store=_VOCABULARY.beyond({**_VOCABULARY.prefixed(sources.options), **sources.given}),
        )

    def to_hadoop(self) -> dict[str, str]:
        """Spell it as ABFS's settings of this account."""
        host = f"{self.account}.dfs.core.windows.net"
        conf = {f"{name}.{host}": value for name, value in self._hadoop_keys().items()}
        return {f"fs.azure.{name}": value for name, value in {**self.for_hadoop, **conf}.items()}

    def _hadoop_keys(self) -> dict[str, str]:
        values = {name: value.get_secret_value() for name, value in self.secrets_by_name.items()}
        match next(iter(values), None):
            case "account_key":
                return {"account.auth.type": "SharedKey", "account.key": values["account_key"]}
            case "sas_token":
                return {"account.auth.type": "SAS", "sas.fixed.token": values["sas_token"]}
            case "client_secret":
                login = f"https://login.microsoftonline.com/{self.application['tenant_id']}/oauth2/token"
                return {
                    "account.auth.type": "OAuth",
                    "account.oauth.provider.type": f"{_OAUTH}.ClientCredsTokenProvider",
                    "account.oauth2.client.endpoint": login,
                    "account.oauth2.client.id": self.application["client_id"],
                    "account.oauth2.client.secret": values["client_secret"],
                }
        return {"account.auth.type": "OAuth", "account.oauth.provider.type": f"{_OAUTH}.MsiTokenProvider"}

    def to_object_store(self) -> dict[str, str]:
        """Spell it as delta-rs's options."""
        values = {name: value.get_secret_value() for name, value in self.secrets_by_name.items()}
        place = {"account_name": self.account, **({"endpoint": self.endpoint} if self.endpoint else {})}
        named = {f"azure_storage_{name}": value for name, value in (place | dict(self.application) | values).items()}
        plain = {"azure_allow_http": "true"} if (self.endpoint or "").startswith("http://") else {}
        return {**self.for_object_store, **named, **plain}

    def secrets(self) -> frozenset[str]:
        """The key, signature or password."""
        return frozenset(value.get_secret_value() for value in self.secrets_by_name.values())
