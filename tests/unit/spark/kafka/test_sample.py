from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.spark.kafka.test_span import extent

from deltaworks.spark.kafka.sample import MOST_BYTES, MOST_DEPTH, Window, bounded, first_windows, last_windows, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltaworks.spark.kafka.span import Extent


def window(most: int = MOST_BYTES, *, newest: bool = False) -> Window:
    return Window(extent=extent("a", 0, 0, 1_000), most=most, newest=newest)


def filled(windows: Sequence[Window], size: int) -> Sequence[Window]:
    """Windows that were read, of records of this size."""
    for each in windows:
        while not each.full and each.records < each.extent.length:
            each.add(b'{"a": "%s"}' % (b"x" * (size - 9)))
        each.reached = each.extent.start + each.records
    return windows


def offsets(windows: Sequence[Window]) -> list[tuple[int, int]]:
    return [(each.extent.start, each.extent.end) for each in windows]


def both(extents: list[Extent], size: int = 100) -> tuple[Sequence[Window], Sequence[Window]]:
    first = filled(first_windows(extents), size)
    return first, last_windows(extents, first)


def test_records_of_both_ends_are_looked_at() -> None:
    first, last = both([extent("a", 0, 100, 10_000)])

    assert (offsets(first), offsets(last)) == ([(100, 600)], [(9_500, 10_000)])


def test_a_short_partition_is_looked_at_once() -> None:
    first, last = both([extent("a", 0, 0, 600), extent("a", 1, 0, 3)])

    assert (offsets(first), offsets(last)) == ([(0, 250), (0, 3)], [(350, 600)])


def test_of_many_partitions_some_from_all_over_are_looked_at() -> None:
    some = spread([extent("a", number, 0, 1_000) for number in range(1_000)])
    first, last = both(some)

    assert {each.extent.partition.number for each in first} == set(range(0, 1_000, 20))
    assert sum(each.extent.length for each in (*first, *last)) == 1_000


@pytest.mark.parametrize("partitions", [1, 2, 50])
def test_long_records_leave_room_for_the_other_end_of_every_partition(partitions: int) -> None:
    first, last = both([extent("a", number, 0, 1_000) for number in range(partitions)], size=5_000)
    filled(last, 5_000)

    assert all(each.values for each in (*first, *last))
    assert all(each.extent.end == 1_000 for each in last)
    kept = sum(each.size for each in (*first, *last))
    assert MOST_BYTES * 0.8 < kept <= MOST_BYTES


def test_a_short_partition_of_long_records_is_looked_at_up_to_its_end() -> None:
    first, last = both([extent("a", 0, 0, 150)], size=5_000)

    assert offsets(first) == [(0, 150)]
    assert first[0].reached == 105  # half of the bytes
    assert offsets(last) == [(105, 150)]


def test_what_short_first_records_leave_is_for_the_last_ones() -> None:
    first, last = both([extent("a", 0, 0, 10_000)], size=20)

    assert last[0].most == MOST_BYTES - first[0].size > MOST_BYTES // 2


def test_the_last_records_are_kept_where_they_are_longer_than_the_first() -> None:
    last = window(100, newest=True)
    for number in range(10):
        last.add(b'{"number": %d, "long": "%s"}' % (number, b"x" * 20))

    assert [text[:12] for text in last.values] == ['{"number": 8', '{"number": 9']
    assert last.size == sum(map(len, last.values)) <= 100


@pytest.mark.parametrize("value", [b'{"a": 1}', b" {} \n", b'{"a": %s}' % (b"9" * 1_000)])
def test_an_object_tells_columns(value: bytes) -> None:
    found = window()
    found.add(value)

    assert found.values == [value.decode()]


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"1",
        b"[{}]",
        b'{"a": ',
        b'{"a": "\xff"}',
        b"[" * 100_000,
        b'{"a": %s}' % (b"9" * 1_500),
        b'{"a": %s%s}' % (b"[" * 900, b"]" * 900),
        b'{"a":' * (MOST_DEPTH + 1) + b"1" + b"}" * (MOST_DEPTH + 1),
    ],
    ids=["none", "empty", "number", "list", "cut", "bytes", "open", "digits", "lists", "objects"],
)
def test_what_is_no_object_or_too_odd_tells_none(value: bytes | None) -> None:
    found = window()
    found.add(value)

    assert found.values == []


@pytest.mark.parametrize("newest", [False, True])
def test_a_sample_has_an_end_but_one_object_at_least(newest: bool) -> None:
    found, value = window(newest=newest), b'{"a": "%s"}' % (b"x" * 400_000)
    for _ in range(5):
        found.add(value)
    one = window(10, newest=newest)
    one.add(value)

    assert len(found.values) == 2
    assert found.size <= MOST_BYTES
    assert len(one.values) == 1


def test_many_long_objects_are_too_many() -> None:
    assert len(bounded(["x" * MOST_BYTES] * 10)) == 4
    assert bounded(["x" * MOST_BYTES * 9, "x" * MOST_BYTES * 8]) == ["x" * MOST_BYTES * 8]
    assert bounded([]) == []
