"""A range of topics, as a person names it: from one time to another, or between offsets."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticCustomError

from deltaworks.errors import ConfigError
from deltaworks.lake.travel import instant
from deltaworks.spark.kafka.offsets import check_order, ending_of, starting_of

_NAMES = ("--from", "--to")


def range_between(start: str, end: str) -> dict[str, Any]:
    """The keys of a source for a range; refuses what is none, and ends that are swapped."""
    by_offsets = {text.lstrip().startswith("{") for text in (start, end)}
    if len(by_offsets) > 1:
        raise NoRangeError(f"From {start} to {end} is from a time to offsets, or the other way round.")
    return _offsets(start, end) if by_offsets == {True} else _times(start, end)


def _offsets(start: str, end: str) -> dict[str, Any]:
    try:
        first, last = starting_of(start), ending_of(end)
        check_order(first, last, _NAMES)
    except PydanticCustomError as error:
        raise NoRangeError(f"{error.message()}.") from error
    return {"starting_offsets": first, "ending_offsets": last}


def _times(start: str, end: str) -> dict[str, Any]:
    try:
        first, last = instant(start), instant(end)
    except ConfigError as error:
        raise NoRangeError(str(error)) from error
    if first >= last:
        raise NoRangeError(f"{start} is not before {end}.")
    return {"starting_timestamp": start, "ending_timestamp": end}


class NoRangeError(ConfigError):
    """What somebody wrote is no range of a topic."""

    def __init__(self, why: str) -> None:
        super().__init__(
            why,
            hint="A range of a topic is from one time to a later one, as 2024-01-31; "
            'or from offsets to later ones, as {"orders": {"0": 23, "1": 0}}.',
        )
