from __future__ import annotations

import pytest

from deltaworks.lake.travel import instant
from deltaworks.spark.kafka.broker import milliseconds


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("2024-01-01", 1704067200000),
        ("2024-01-01 00:00:00.123", 1704067200123),
        ("2024-01-01 00:00:00.123001", 1704067200124),
        ("2024-01-01T01:00:00+01:00", 1704067200000),
        ("1970-01-01", 0),
        ("1969-12-31 23:59:59.999", 0),
        ("0001-01-01", 0),
    ],
)
def test_a_time_is_the_first_millisecond_that_is_not_before_it(time: str, expected: int) -> None:
    assert milliseconds(instant(time)) == expected
