"""Null and repeated keys of an upsert: refused, matched, or settled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from deltaworks.errors import RunError
from deltaworks.lake.model import problem
from deltaworks.spark.changes import unreplaced
from deltaworks.spark.hidden import ORDER
from deltaworks.spark.look import repeated
from deltaworks.spark.newest import newest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from deltaworks.spark.look import Findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The columns that identify a row of the target, and what becomes of rows whose keys are null or repeated."""

    columns: tuple[str, ...]
    partitions: tuple[str, ...] = ()  # those of them whose values are worth knowing one by one
    on_null: Literal["match", "fail"] = "match"
    on_duplicate: Literal["fail", "keepNewest"] | None = None  # none: keep the newest where the source has an order
    order_by: tuple[str, ...] = ()
    checked: bool = True  # whether the rows are looked at first
    ties: bool = False  # whether two rows of a key may be equally new, because one row of the source became both

    def settled(self, rows: DataFrame, *, multiplied: bool = False) -> Keys:
        """With what these rows tell of their order, where the file says nothing."""
        if self.on_duplicate is not None:
            return self
        if ORDER not in rows.columns:
            return replace(self, on_duplicate="fail", order_by=())
        return replace(self, on_duplicate="keepNewest", order_by=(ORDER,), ties=multiplied)

    def judge(self, rows: DataFrame, found: Findings) -> None:
        """Refuse null and repeated keys where the file does not say what becomes of them."""
        if found.null_keys and self.on_null == "fail":
            raise NullKeysError(found.null_keys, self.columns)
        if found.repeated_keys and self.on_duplicate == "fail":
            raise DuplicateKeysError(found.repeated_keys, repeated(rows, self.columns))

    def notes(self, found: Findings) -> tuple[str, ...]:
        """What a person should know of the keys."""
        if not found.null_keys:
            return ()
        rows = "1 row has" if found.null_keys == 1 else f"{found.null_keys:,} rows have"
        return (f"{rows} a null in mergeKeys ({', '.join(self.columns)}), which matches a null",)

    def once(self, rows: DataFrame, found: Findings | None) -> DataFrame:
        """The rows to write, each key once."""
        known = found is not None and self.checked
        if self.on_duplicate != "keepNewest" or (known and found is not None and not found.repeated_keys):
            return rows
        if self.ties and (tied := repeated(rows, (*self.columns, *self.order_by), shown=self.columns)):
            raise TiedKeysError(tied)
        if ORDER not in rows.columns or ORDER in self.order_by:
            return newest(rows, self.columns, self.order_by)
        # By what the file names, a row as it was before may be newer than as it became; and the source breaks ties.
        return newest(unreplaced(rows, self.columns), self.columns, (*self.order_by, ORDER))


def check_newest(on_duplicate: str | None, order_by: Sequence[str] | None) -> None:
    """Refuse to keep the newest of what has no order, and an order that nothing is kept by."""
    newest = on_duplicate == "keepNewest"
    if newest and not order_by:
        raise problem("keepNewest needs orderBy", "Add orderBy with the column that tells which row is newer.")
    if order_by and not newest:
        raise problem("orderBy is for onDuplicateKeys: keepNewest", "Add that, or leave orderBy out.")


class NullKeysError(RunError):
    """Rows have no key, and the file says that they must."""

    def __init__(self, count: int, keys: Sequence[str]) -> None:
        rows = "1 row has" if count == 1 else f"{count:,} rows have"
        super().__init__(
            f"load: {rows} a null in mergeKeys ({', '.join(keys)}).",
            hint="Nothing was written. Mend the rows, or leave them out with a filter.",
        )
        self.count = count


class DuplicateKeysError(RunError):
    """Several rows have the same key: which of them to write is not for us to guess."""

    def __init__(self, count: int, named: Sequence[tuple[str, int]]) -> None:
        shown = ", ".join(f"{key} {times} times" for key, times in named)
        several = "1 key is" if count == 1 else f"{count:,} keys are"
        more = f" and {count - len(named):,} more" if count > len(named) else ""
        super().__init__(
            f"load: {several} there more than once: {shown}{more}.",
            hint="Nothing was written. Mend the rows, or write onDuplicateKeys: keepNewest with orderBy.",
        )
        self.keys = tuple(named)


class TiedKeysError(RunError):
    """One row of the source became several with the same key: none of them is the newest."""

    def __init__(self, named: Sequence[tuple[str, int]]) -> None:
        shown = ", ".join(f"{key} {times} times" for key, times in named)
        super().__init__(
            f"load: a transform made several rows with the same key of one: {shown}.",
            hint="Nothing was written. Add a column to mergeKeys that tells them apart, or use deduplicate.",
        )
