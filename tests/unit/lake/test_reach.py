from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from deltaworks.lake.reach import Reach, conditions, files_within


def reach(low: str | None = "5", high: str | None = "9", **facts: Any) -> Reach:
    return Reach(**{"column": "k", "kind": "int", "low": low, "high": high, **facts})


def test_a_range_is_what_holds_for_every_row_the_batch_can_match() -> None:
    assert reach().to_sql() == "target.`k` BETWEEN 5 AND 9"


def test_a_row_without_a_value_is_let_through_where_null_is_a_key() -> None:
    assert reach(nulls=True).to_sql() == "(target.`k` BETWEEN 5 AND 9 OR target.`k` IS NULL)"


def test_a_few_partition_values_are_named_and_many_are_a_range() -> None:
    few = reach("a", "c", kind="string", values=("a", "it's"))
    many = reach("a", "c", kind="string", values=tuple(map(str, range(101))))

    assert few.to_sql() == "target.`k` IN ('a', 'it\\'s')"
    assert many.to_sql() == "target.`k` BETWEEN 'a' AND 'c'"


@pytest.mark.parametrize(
    "unknown", [reach(None, None), reach("a", "b", kind="binary"), reach("1.5", "2", kind="double")]
)
def test_what_sql_cannot_say_exactly_is_not_said(unknown: Reach) -> None:
    assert unknown.to_sql() is None
    assert conditions([unknown, reach()]) == ("target.`k` BETWEEN 5 AND 9",)


def files(lows: list[Any], highs: list[Any], kind: pa.DataType) -> pa.Table:
    return pa.table({"path": [""] * len(lows), "min.k": pa.array(lows, kind), "max.k": pa.array(highs, kind)})


@pytest.mark.parametrize(
    ("table", "found", "count"),
    [
        (files([0, 5, 9, 10], [4, 5, 20, 20], pa.int32()), reach(), 2),
        (files([0, None], [1, None], pa.int32()), reach(), 1),  # a file that tells nothing may hold anything
        (files([0, 10], [4, 20], pa.int32()), reach(nulls=True), 2),
        (files(["a", "x"], ["b", "z"], pa.string()), reach("y", "y", kind="string"), 1),
        (files([Decimal("1.00")], [Decimal("2.00")], pa.decimal128(5, 2)), reach("1.50", "9", kind="decimal(5,2)"), 1),
        (
            files([dt.date(2024, 1, 1)], [dt.date(2024, 2, 1)], pa.date32()),
            reach("2024-03-01", "2024-04-01", kind="date"),
            0,
        ),
        (
            files([1_000_000, 9_000_000], [2_000_000, 10_000_000], pa.timestamp("us", "UTC")),
            reach("1500000", "1600000", kind="timestamp"),
            1,
        ),
        (pa.table({"path": ["", ""]}), reach(), 2),
        (files([0], [1], pa.int32()), reach(None, None), 1),
        (files([], [], pa.int32()), reach(), 0),
    ],
)
def test_files_that_cannot_hold_a_key_are_counted_out(table: pa.Table, found: Reach, count: int) -> None:
    assert files_within(table, [found]) == count


def test_a_partition_is_read_only_when_the_batch_has_its_value() -> None:
    table = pa.table({"path": ["", "", ""], "partition.k": ["a", "b", None]})

    assert files_within(table, [reach("a", "c", kind="string", values=("a", "c"))]) == 1


def test_partitions_are_counted_by_range_where_the_batch_has_too_many_values_to_name() -> None:
    table = pa.table({"path": [""] * 4, "partition.k": pa.array([0, 101, 300, None], pa.int32())})
    even = tuple(str(number) for number in range(0, 202, 2))

    assert files_within(table, [reach("0", "200", values=even)]) == 2  # 101 lies between, and will be read
