"""What an end of a pipeline may ask of those who run it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from deltaworks.vault.credential import Credential
    from deltaworks.vault.storage import Access


class Surroundings(Protocol):
    """Where a pipeline runs: its Spark session and its credentials."""

    def session(self) -> SparkSession:
        """The session; it is opened when it is first asked for."""

    def credential(self, credential_id: str | None) -> Credential | None:
        """A credential by its name in the vault; none where none is named."""

    def access_to(self, uri: str, credential_id: str | None, options: Mapping[str, str]) -> Access:
        """The way to the storage of a URI."""
