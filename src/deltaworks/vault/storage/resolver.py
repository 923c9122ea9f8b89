"""From a URI and what is known about it to the way there."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from deltaworks.errors import ConfigError
from deltaworks.vault.storage.azure import AzureAccess
from deltaworks.vault.storage.base import Access, Sources
from deltaworks.vault.storage.gcs import GcsAccess
from deltaworks.vault.storage.s3 import S3Access

if TYPE_CHECKING:
    from collections.abc import Mapping

_KINDS: Mapping[str, type[S3Access | AzureAccess | GcsAccess]] = {
    **dict.fromkeys(("s3", "s3a", "s3n"), S3Access),
    **dict.fromkeys(("abfs", "abfss", "az", "azure", "adl", "wasb", "wasbs"), AzureAccess),
    **dict.fromkeys(("gs", "gcs"), GcsAccess),
}
_OPTIONS = ("fs.", "aws_", "azure_", "google_")


def access_to(uri: str, sources: Sources | None = None) -> Access:
    """The way to the storage of a URI; where nobody says more, by the role the machine has."""
    where = urlsplit(uri)
    kind = _KINDS.get(where.scheme.lower()) if "://" in uri else None
    if kind is None:
        return Access()
    if not where.netloc:
        raise ConfigError(f"{uri!r} names no bucket.", hint=f"Write {where.scheme}://bucket/path.")
    return kind.of(uri, sources or Sources())


def is_storage_option(name: str) -> bool:
    """Whether an option speaks of the storage, not of the rows."""
    return name.lower().startswith(_OPTIONS)
