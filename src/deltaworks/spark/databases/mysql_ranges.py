"""Ranges of a column of MySQL's, by what the server says of its indexes: no rows are read for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.spark.databases.base import Ranges
from deltaworks.spark.databases.stretches import Stretch, cut_evenly, number, spelled, stretches, unbent

if TYPE_CHECKING:
    from deltaworks.spark.databases.base import Cut, Session

FINE = 4  # stretches that a part is made of, at least
QUESTIONS = 80  # to the server for each part, at most


def estimated(session: Session, table: str, column: str, cut: Cut) -> Ranges | None:
    """Ranges of a column that an index begins with; none of one whose values are neither numbers nor times."""
    ((low, high),) = session.rows(f"SELECT MIN({column}), MAX({column}) FROM {table}")
    first, last = number(low), number(high)
    if first is None or last is None or cut.size is None:
        return None

    def rows(condition: str) -> int:
        return _explained(session, f"SELECT {column} FROM {table} WHERE {column} {condition}")

    def within(low_end: int, high_end: int) -> int:
        return rows(f"BETWEEN {spelled(low_end, like=low)} AND {spelled(high_end, like=low)}")

    fine = cut.size.rows / (cut.parts * FINE)
    found = stretches(first, last, within, fine=fine, most=QUESTIONS * cut.parts)
    nulls = Stretch(low=first - 1, high=first - 1, rows=max(rows("IS NULL") - 1, 0))  # no rows are said to be one
    bounds, heaviest = cut_evenly(unbent([nulls, *found], cut.size.rows), cut.parts)
    return Ranges(bounds=tuple(spelled(bound, like=low) for bound in bounds), heaviest=heaviest)


def _explained(session: Session, query: str) -> int:
    """How many rows the server thinks that it would look at."""
    with session.asked(f"EXPLAIN FORMAT=TRADITIONAL {query}") as cursor:
        at = [each[0].lower() for each in cursor.description].index("rows")
        return sum(int(row[at] or 0) for row in cursor.fetchall())
