"""Table features: what a table asks of those who write it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from deltaworks.lake.table import Table

NEWEST_WRITER = 7  # the protocol since which features are named

# Not among them: features that put commits elsewhere than into the log, where we could not read back what landed.
WRITABLE = frozenset(
    {
        "allowColumnDefaults",
        "appendOnly",
        "changeDataFeed",
        "checkConstraints",
        "checkpointProtection",
        "clustering",
        "columnMapping",
        "deletionVectors",
        "domainMetadata",
        "generatedColumns",
        "icebergCompatV1",
        "icebergCompatV2",
        "icebergCompatV3",
        "identityColumns",
        "inCommitTimestamp",
        "invariants",
        "materializePartitionColumns",
        "rowTracking",
        "timestampNtz",
        "typeWidening",
        "typeWidening-preview",
        "v2Checkpoint",
        "vacuumProtocolCheck",
        "variantShredding",
        "variantShredding-preview",
        "variantType",
        "variantType-preview",
    }
)


def require_writable(table: Table) -> None:
    """Refuse a table that asks for what we cannot do: Delta would say so only after all files are written."""
    unknown = sorted(set(table.features) - WRITABLE)
    if table.protocol[1] > NEWEST_WRITER:
        unknown.append(f"writer version {table.protocol[1]}")
    if unknown:
        raise ConfigError(
            f"{table.uri} asks its writers for {', '.join(unknown)}, which this deltaworks cannot write.",
            hint="Upgrade deltaworks, or take the feature from the table with ALTER TABLE … DROP FEATURE.",
        )
