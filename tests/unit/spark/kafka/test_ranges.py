from __future__ import annotations

import pytest

from deltaworks.spark.kafka.ranges import NoRangeError, range_between

FIVE = '{"orders": {"0": 5, "1": 0}}'


def test_a_range_is_from_one_time_to_a_later_one() -> None:
    found = range_between("2024-01-01", "2024-01-01 12:00+01:00")

    assert found == {"starting_timestamp": "2024-01-01", "ending_timestamp": "2024-01-01 12:00+01:00"}


def test_a_range_is_from_offsets_to_later_ones() -> None:
    found = range_between(f" {FIVE}", '{"orders": {"0": 6, "1": -1}}')

    assert found == {"starting_offsets": {"orders": {0: 5, 1: 0}}, "ending_offsets": {"orders": {0: 6, 1: -1}}}


@pytest.mark.parametrize(
    ("start", "end", "why"),
    [
        (FIVE, "2024-01-01", "is from a time to offsets, or the other way round"),
        ("2024-01-01", FIVE, "is from a time to offsets, or the other way round"),
        ("soon", "2024-01-01", "'soon' is not a time"),
        ("2024-01-01", "latest", "'latest' is not a time"),
        ("1", "2", "'1' is not a time"),
        ('{"orders": ', FIVE, "is not valid JSON"),
        ('{"orders": 5}', FIVE, "says no offsets"),
        ('{"orders": {"0": Infinity}}', FIVE, "says no offsets"),
        (FIVE, "{}", "says no offsets"),
        (FIVE, '{"orders": {"0": -2}}', "A read cannot end at -2"),
    ],
)
def test_what_is_no_range_is_told_with_what_one_looks_like(start: str, end: str, why: str) -> None:
    with pytest.raises(NoRangeError, match=why) as told:
        range_between(start, end)

    assert "as 2024-01-31; or from offsets to later ones" in told.value.hint
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("start", "end", "why"),
    [
        ("2024-01-02", "2024-01-01", "2024-01-02 is not before 2024-01-01"),
        ("2024-01-01", "2024-01-01T00:00Z", "is not before"),
        (FIVE, '{"orders": {"0": 4, "1": 0}}', "--from 5 of orders 0 comes after --to 4"),
    ],
)
def test_a_range_whose_ends_are_swapped_is_refused(start: str, end: str, why: str) -> None:
    with pytest.raises(NoRangeError, match=why):
        range_between(start, end)
