"""From a URI and what is known about it to the way there."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from deltaworks.errors import ConfigError
from deltaworks.vault.storage.base import Access, Sources
from deltaworks.vault.storage.settings import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

# Imported when used: most commands only look at a local table.
_S3, _AZURE, _GCS = ("s3", "S3Access"), ("azure", "AzureAccess"), ("gcs", "GcsAccess")
_KINDS = {
    **dict.fromkeys(("s3", "s3a", "s3n"), _S3),
    **dict.fromkeys(("abfs", "abfss", "az", "azure", "adl", "wasb", "wasbs"), _AZURE),
    **dict.fromkeys(("gs", "gcs"), _GCS),
}
_OPTIONS = ("fs.", "aws_", "azure_", "google_")
# In everybody's spelling, as fs.s3a.secret.key, AWS_SECRET_ACCESS_KEY and fs.azure.account.key.ACCOUNT.
_SECRET = re.compile("(access|account|master|private|sas|secret)key|clientsecret|token$|accountjson$")


def access_to(uri: str, sources: Sources | None = None) -> Access:
    """The way to the storage of a URI; where nobody says more, by the role the machine has."""
    refuse_secrets(sources.options if sources else ())
    where = urlsplit(uri)
    kind = _KINDS.get(where.scheme.lower()) if "://" in uri else None
    if kind is None:
        return Access()
    if not where.netloc:
        raise ConfigError(f"{uri!r} names no bucket.", hint=f"Write {where.scheme}://bucket/path.")
    module, name = kind
    found: Access = getattr(import_module(f"deltaworks.vault.storage.{module}"), name).of(uri, sources or Sources())
    return found


def is_storage_option(name: str) -> bool:
    """Whether an option speaks of the storage, not of the rows."""
    return name.lower().startswith(_OPTIONS)


def refuse_secrets(options: Iterable[str]) -> None:
    """Refuse options of a file that hold a secret, without repeating it."""
    found = next((name for name in options if is_storage_option(name) and _SECRET.search(plain(name))), None)
    if found:
        raise ConfigError(
            f"`options` holds a secret, {found}.",
            hint="A file is no place for secrets: use `deltaworks vault set` and `credentialId`.",
        )
