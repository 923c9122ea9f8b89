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

    @property
    def named(self) -> bool:
        """The values are told one by one, not by their range."""
        return 0 < len(self.values) <= MOST_VALUES

    def to_sql(self) -> str | None:
        """What holds for every row of the target that these values can match; none where SQL cannot say it."""
        found = self._among() or self._between()
        if found is None:
            return None
        # Never wrong, only slower, where a row without a value must be found too.
        return f"({found} OR target.{quoted(self.column)} IS NULL)" if self.nulls else found

    def _among(self) -> str | None:
        spelled = [typed(value, self.kind) for value in self.values] if self.named else []
        if not spelled or None in spelled:
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
    import pyarrow.compute as pc

    keep = pa.array([True] * files.num_rows, pa.bool_())
    for reach in reaches:
        # Where null is a key too, any file may hold it: the condition skips none for certain.
        if reach.to_sql() is not None and not reach.nulls:
            keep = pc.and_(keep, pc.fill_null(_may_hold(files, reach), True))
    return pc.sum(keep).as_py() or 0


def _may_hold(files: pa.Table, reach: Reach) -> Any:
    """For each file whether it can hold one of the values; null for one that tells nothing."""
    import pyarrow as pa

    partition, low, high = (f"{part}.{reach.column}" for part in ("partition", "min", "max"))
    if partition in files.column_names:
        return _has_one(files[partition], reach)
    if low not in files.column_names or high not in files.column_names:
        return pa.nulls(files.num_rows, pa.bool_())
    return _overlap(files[low], files[high], reach)


def _has_one(partitions: pa.ChunkedArray, reach: Reach) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not reach.named:
        return pc.fill_null(_overlap(partitions, partitions, reach), False)
    values = [_value(each, reach, partitions.type).as_py() for each in reach.values]
    return pc.is_in(partitions, pa.array(values, partitions.type))


def _overlap(lows: pa.ChunkedArray, highs: pa.ChunkedArray, reach: Reach) -> Any:
    import pyarrow.compute as pc

    first, last = (_value(text or "", reach, lows.type) for text in (reach.low, reach.high))
    return pc.and_kleene(pc.greater_equal(highs, first), pc.less_equal(lows, last))


def _value(text: str, reach: Reach, kind: pa.DataType) -> pa.Scalar:
    import pyarrow as pa

    if reach.kind == "timestamp":
        return pa.scalar(int(text), pa.timestamp("us", "UTC")).cast(kind)
    return pa.scalar(text).cast(kind)
