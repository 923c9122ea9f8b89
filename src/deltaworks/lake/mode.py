"""How rows meet the rows already there."""

from __future__ import annotations

from enum import StrEnum


class WriteMode(StrEnum):
    """Add to what is there, replace it, or merge by key."""

    APPEND = "Append"
    OVERWRITE = "Overwrite"
    UPSERT = "Upsert"
