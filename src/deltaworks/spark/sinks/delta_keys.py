"""Null and repeated keys of an upsert: refused, matched, or settled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.errors import RunError
from deltaworks.spark.look import repeated
from deltaworks.spark.newest import newest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from deltaworks.spark.batch import Batch
    from deltaworks.spark.look import Findings
    from deltaworks.spark.sinks.delta import DeltaSink


class NullKeysError(RunError):
    """Rows have no key, and the file says that they must."""

    def __init__(self, count: int, keys: Sequence[str]) -> None:
        rows = "1 row has" if count == 1 else f"{count:,} rows have"
        super().__init__(
            f"load: {rows} a null in mergeKeys ({', '.join(keys)}).",
            hint="Nothing was written. Mend the rows, or write onNullKeys: match.",
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


def refuse(sink: DeltaSink, rows: DataFrame, found: Findings) -> None:
    """Refuse null and repeated keys where the file does not say what becomes of them."""
    keys = sink.merge_keys or ()
    if found.null_keys and sink.on_null_keys == "fail":
        raise NullKeysError(found.null_keys, keys)
    if found.repeated_keys and sink.on_duplicate_keys == "fail":
        raise DuplicateKeysError(found.repeated_keys, repeated(rows, keys))


def chosen(sink: DeltaSink, batch: Batch) -> tuple[DataFrame, int]:
    """The rows to write, each key once, and how many older ones were left out."""
    found = batch.findings
    once = found is not None and not found.repeated_keys
    if sink.on_duplicate_keys == "fail" or once:
        return batch.rows, 0
    rows = newest(batch.rows, sink.merge_keys or (), sink.order_by or ())
    return rows, found.surplus if found else 0
