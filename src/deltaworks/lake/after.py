"""What is done to a table after a load."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from deltaworks.lake.model import Columns, FileModel, Flag, Whole


class After(FileModel):
    """What is done to the table once the rows have landed; each step is a commit of its own."""

    optimize: Flag = False
    """Make few large files of many small ones."""
    z_order_columns: Columns | None = None
    """Optimize, and put rows with similar values of these columns into the same files."""
    vacuum_retention_hours: Annotated[Whole, Field(ge=0)] | None = None
    """Remove files that no version younger than this needs; at least the table's own retention, 168 by default."""

    @property
    def wanted(self) -> bool:
        """Whether anything is asked for."""
        return self != After()
