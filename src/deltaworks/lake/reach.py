"""How far the keys of a batch reach, and which files of a table can hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deltaworks.lake.sql import quoted, typed

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

MOST_VALUES = 100  # of one column in a condition; more are told by their range


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The values of one key column: their range, and for a partition column each of them."""

    column: str
    kind: str
    low: str | None  # as Spark prints it, a timestamp in microseconds; none where all are null
    high: str | None
    nulls: bool = False
    values: tuple[str, ...] = ()

    def to_sql(self) -> str | None:
        """What holds for every row of the target that these values can match; none where SQL cannot say it."""
        found = self._among() or self._between()
        if found is None:
            return None
        # Never wrong, only slower, where a row without a value must be found too.
        return f"({found} OR target.{quoted(self.column)} IS NULL)" if self.nulls else found

    def _among(self) -> str | None:
        spelled = [typed(value, self.kind) for value in self.values]
        if not spelled or len(spelled) > MOST_VALUES or None in spelled:
            return None
        return f"target.{quoted(self.column)} IN ({', '.join(filter(None, spelled))})"

    def _between(self) -> str | None:
        if self.low is None or self.high is None:
            return None
        low, high = typed(self.low, self.kind), typed(self.high, self.kind)
        return f"target.{quoted(self.column)} BETWEEN {low} AND {high}" if low and high else None


def conditions(reaches: Iterable[Reach]) -> tuple[str, ...]:
    """All that can be said about the rows a batch can match."""
    return tuple(found for reach in reaches if (found := reach.to_sql()))


def files_within(files: pa.Table, reaches: Iterable[Reach]) -> int:
    """How many of a table's files can hold rows the batch matches, by partition values and statistics."""
    import pyarrow as pa

    keep = pa.array([True] * files.num_rows)
    for reach in reaches:
        if reach.to_sql() is not None:
            keep = _both(keep, _may_hold(files, reach))
    return sum(keep.to_pylist())


def _may_hold(files: pa.Table, reach: Reach) -> Any:
    partition, low, high = (f"{part}.{reach.column}" for part in ("partition", "min", "max"))
    if partition in files.column_names:
        return _within(files[partition], files[partition], reach)
    if low in files.column_names and high in files.column_names:
        return _within(files[low], files[high], reach)
    import pyarrow as pa

    return pa.array([True] * files.num_rows)


def _within(lows: pa.ChunkedArray, highs: pa.ChunkedArray, reach: Reach) -> Any:
    """Whether ranges of files meet the range of the batch; a file that tells nothing may hold anything."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if reach.nulls:
        return pa.array([True] * len(lows))
    if reach.values and lows is highs:
        found = pc.is_in(lows, pa.array([_value(value, reach, lows.type) for value in reach.values], lows.type))
    else:
        first, last = (_value(text or "", reach, lows.type) for text in (reach.low, reach.high))
        found = pc.and_kleene(pc.greater_equal(highs, first), pc.less_equal(lows, last))
    return pc.fill_null(found, True).combine_chunks()


def _value(text: str, reach: Reach, kind: pa.DataType) -> Any:
    import pyarrow as pa

    if reach.kind == "timestamp":
        return pa.scalar(int(text), pa.timestamp("us", "UTC")).cast(kind)
    return pa.scalar(text).cast(kind)


def _both(left: Any, right: Any) -> Any:
    import pyarrow.compute as pc

    return pc.and_(left, right)
