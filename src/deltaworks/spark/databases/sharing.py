"""How a read is shared out among several connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.spark.databases.base import Cut, Split, between

if TYPE_CHECKING:
    from deltaworks.spark.databases.base import Ranges, Relation, Session, Size

WORTH = 4 << 20  # bytes of a table that are worth a connection
ONCE = "a query is asked once; partitionColumn would share its rows out"
NO_TABLE = "it is no table; partitionColumn would share its rows out"
TOO_FEW = "its partitionColumn has too few values"
HEAVY = 0.6  # a part with more of the rows than this is not worth the others


def shared_out(session: Session, relation: Relation, column: str | None, most: int) -> Split | str | None:
    """How to share a read out among so many connections at most; or why not, where that is worth knowing."""
    if most < 2:
        return None
    size = session.database.size(session, relation) if relation.table else None
    if column is not None:
        cut = Cut(parts=_parts(size, most) if size else most, size=size)
        ranges = session.database.ranges(session, relation, column, cut)
        return _by(session, column, ranges) or TOO_FEW
    if size is None:
        return NO_TABLE if relation.table else ONCE
    cut = Cut(parts=_parts(size, most), size=size)
    return _by_itself(session, relation, cut) if size.bytes > WORTH else None


def _parts(size: Size, most: int) -> int:
    return max(2, min(most, -(-size.bytes // WORTH)))


def _by_itself(session: Session, relation: Relation, cut: Cut) -> Split:
    """By the first index that can be cut evenly, or else by no order at all."""
    database = session.database
    for column in database.indexed(session, relation):
        found = database.ranges(session, relation, column, cut)
        if found.heaviest <= heaviest(cut.parts) and (split := _by(session, column, found)):
            return split
    return database.scattered(session, relation, cut)


def heaviest(parts: int) -> float:
    """Which share of all rows a part may have: twice its own, and of few parts a little less."""
    return min(HEAVY, 2 / parts)


def _by(session: Session, column: str, found: Ranges) -> Split | None:
    conditions = between(session.database.quoted(column), found.bounds)
    return Split(by=column, conditions=conditions) if conditions else None
