"""Where a pipeline runs: its Spark session, its credentials, and the machine's environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deltaworks.lake.storage import local_path
from deltaworks.vault.storage import Access, Sources, access_to
from deltaworks.vault.storage.settings import below

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import SparkSession

    from deltaworks.vault.credential import Credential, CredentialVault


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What the ends of one pipeline may ask for."""

    session: Callable[[], SparkSession]  # opens it when it is first asked for
    vault: CredentialVault
    environment: Mapping[str, str] = field(default_factory=dict)
    conf: Callable[[], Mapping[str, str]] = dict  # Spark's, as files, flags or its owner gave it

    def credential(self, credential_id: str | None) -> Credential | None:
        """A credential by its name in the vault; none where none is named."""
        return self.vault.get(credential_id) if credential_id else None

    def access_to(self, uri: str, credential_id: str | None, options: Mapping[str, str]) -> Access:
        """The way to the storage of a URI."""
        credential = self.credential(credential_id)
        if local_path(uri) is not None:
            return Access()
        said = self.conf()
        conf = {name: value for name, value in said.items() if name.startswith("fs.")} | below(said, "spark.hadoop.")
        sources = Sources(credential=credential, options=options, conf=conf, environment=self.environment)
        return access_to(uri, sources)
