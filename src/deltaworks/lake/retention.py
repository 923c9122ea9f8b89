"""Tables that forget marks: a replay there would land twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.errors import RefusedError

if TYPE_CHECKING:
    from deltaworks.lake.table import Table

FORGETS_MARKS = "delta.setTransactionRetentionDuration"


def require_marks_kept(table: Table, otherwise: str = "") -> None:
    """Refuse a table that forgets txn actions after a while, with what else the hint may offer."""
    duration = table.properties.get(FORGETS_MARKS)
    if duration is not None:
        raise RefusedError(
            f"{table.uri} forgets which loads have landed after {duration}.",
            hint=f"{otherwise}ALTER TABLE … UNSET TBLPROPERTIES ('{FORGETS_MARKS}').",
        )
