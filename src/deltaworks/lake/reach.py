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
    import pyarrow.compute as pc

    partition, low, high = (f"{part}.{reach.column}" for part in ("partition", "min", "max"))
    if partition in files.column_names:
        kind = files.schema.field(partition).type
        return pc.is_in(files[partition], pa.array([_value(each, reach, kind).as_py() for each in reach.values], kind))
    if low not in files.column_names or high not in files.column_names:
        return pa.nulls(files.num_rows, pa.bool_())
    kind = files.schema.field(low).type
    first, last = (_value(text or "", reach, kind) for text in (reach.low, reach.high))
    return pc.and_kleene(pc.greater_equal(files[high], first), pc.less_equal(files[low], last))


def _value(text: str, reach: Reach, kind: pa.DataType) -> pa.Scalar:
    import pyarrow as pa

    if reach.kind == "timestamp":
        return pa.scalar(int(text), pa.timestamp("us", "UTC")).cast(kind)
    return pa.scalar(text).cast(kind)
