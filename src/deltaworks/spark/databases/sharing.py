"""How a read is shared out among several connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.spark.databases.base import Cut, Split, between

if TYPE_CHECKING:
    from deltaworks.spark.databases.base import Relation, Session, Size

WORTH = 4 << 20  # bytes of a table that are worth a connection
ONCE = "a query is asked once; partitionColumn would share its rows out"
NO_TABLE = "it is no table; partitionColumn would share its rows out"
TOO_FEW = "its partitionColumn has too few values"


def shared_out(session: Session, relation: Relation, column: str | None, most: int) -> Split | str | None:
    """How to share a read out among so many connections at most; or why not, where that is worth knowing."""
    if most < 2:
        return None
    size = session.database.size(session, relation) if relation.table else None
    if column is not None:
        cut = Cut(parts=_parts(size, most) if size else most, size=size)
        return _ranges(session, relation, column, cut) or TOO_FEW
    if size is None:
        return NO_TABLE if relation.table else ONCE
    cut = Cut(parts=_parts(size, most), size=size)
    return _by_itself(session, relation, cut) if size.bytes > WORTH else None


def _parts(size: Size, most: int) -> int:
    return max(2, min(most, -(-size.bytes // WORTH)))


def _by_itself(session: Session, relation: Relation, cut: Cut) -> Split:
    """By the first index that can be cut, or else by no order at all."""
    database = session.database
    indexed = database.indexed(session, relation)
    found = (_ranges(session, relation, name, cut) for name in indexed)
    return next(filter(None, found), None) or database.scattered(session, relation, cut)


def _ranges(session: Session, relation: Relation, column: str, cut: Cut) -> Split | None:
    bounds = session.database.bounds(session, relation, column, cut)
    return Split(by=column, conditions=between(session.database.quoted(column), bounds)) if bounds else None
