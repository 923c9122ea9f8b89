"""What every kind of storage has: one model, spelled for Hadoop and for delta-rs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaworks.vault.credential import Credential


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The way to one bucket or container. This one is for storage that nobody guards, such as a local disk."""

    place: str = ""  # the bucket or container, as a URI
    credential_id: str | None = None
    notes: tuple[str, ...] = ()  # what a person should know before the run

    def to_hadoop(self) -> dict[str, str]:
        """Spell it as Hadoop's configuration."""
        return {}

    def to_object_store(self) -> dict[str, str]:
        """Spell it as delta-rs's storage options."""
        return {}

    def secrets(self) -> frozenset[str]:
        """Every value that must never be shown."""
        return frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where settings are looked for; the first that says something wins, in this order."""

    given: Mapping[str, str] = field(default_factory=dict)  # delta-rs's own options, by the calling program
    credential: Credential | None = None
    options: Mapping[str, str] = field(default_factory=dict)  # of the file
    conf: Mapping[str, str] = field(default_factory=dict)  # Hadoop's, as Spark was given it
    environment: Mapping[str, str] = field(default_factory=dict)
