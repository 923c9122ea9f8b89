"""How storage is reached: one model for each cloud, spelled for Hadoop and for delta-rs."""

from deltaworks.vault.storage.base import Access, Sources
from deltaworks.vault.storage.resolver import access_to, is_storage_option, refuse_secrets

__all__ = ["Access", "Sources", "access_to", "is_storage_option", "refuse_secrets"]
