from __future__ import annotations

import pytest
from tests.unit.spark.kafka.test_span import extent

from deltaworks.spark.kafka.sample import MOST_BYTES, MOST_PARTITIONS, Found, windows


def test_records_of_both_ends_are_looked_at() -> None:
    first, last = windows([extent("a", 0, 100, 10_000)])

    assert [(each.start, each.end) for each in first] == [(100, 600)]
    assert [(each.start, each.end) for each in last] == [(9_500, 10_000)]


def test_a_short_partition_is_looked_at_once() -> None:
    first, last = windows([extent("a", 0, 0, 600), extent("a", 1, 0, 3), extent("a", 2, 7, 7)])

    assert [(each.start, each.end) for each in first] == [(0, 250), (0, 3)]
    assert [(each.start, each.end) for each in last] == [(350, 600)]


def test_of_many_partitions_some_from_all_over_are_looked_at() -> None:
    first, last = windows([extent("a", number, 0, 1_000) for number in range(1_000)])

    assert len(first) == MOST_PARTITIONS
    assert {each.partition.number for each in first} == set(range(0, 1_000, 20))
    assert sum(each.length for each in first + last) == 1_000


@pytest.mark.parametrize("value", [b'{"a": 1}', b" {} \n"])
def test_an_object_tells_columns(value: bytes) -> None:
    found = Found()
    found.add(value)

    assert found.values == [value.decode()]


@pytest.mark.parametrize("value", [None, b"", b"1", b"[{}]", b'{"a": ', b'{"a": "\xff"}', b"[" * 100_000])
def test_what_is_no_object_tells_none(value: bytes | None) -> None:
    found = Found()
    found.add(value)

    assert found.values == []


def test_a_sample_has_an_end() -> None:
    found, value = Found(), b'{"a": "%s"}' % (b"x" * 400_000)
    for _ in range(5):
        found.add(value)

    assert len(found.values) == 2
    assert found.bytes <= MOST_BYTES
