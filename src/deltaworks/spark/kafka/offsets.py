"""Where reading begins and ends, as a file says it, and as numbers once the broker has told what is there."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from deltaworks.errors import ConfigError
from deltaworks.lake.model import from_json_text, problem
from deltaworks.spark.kafka.span import Extent, Partition

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

EARLIEST, LATEST = "earliest", "latest"
_MARKS = {-2: EARLIEST, -1: LATEST}  # Kafka's own numbers for them

Offsets = dict[str, dict[int, int]]
"""Offsets by topic and partition."""


def starting_of(value: Any) -> Any:
    """Where to begin, as somebody wrote it."""
    return value if value in (EARLIEST, LATEST) else _numbers(value, "earliest, latest")


def ending_of(value: Any) -> Any:
    """Where to end, as somebody wrote it."""
    if value == LATEST:
        return value
    found = _numbers(value, "latest")
    if any(offset == -2 for offsets in found.values() for offset in offsets.values()):
        raise problem("A read cannot end at -2, the earliest offset", "Write -1 for the latest, or a number.")
    return found


def _numbers(value: Any, words: str) -> Offsets:
    said = from_json_text(value)
    try:
        found = {str(topic): {int(key): _offset(number) for key, number in said[topic].items()} for topic in said}
    except (AttributeError, TypeError, ValueError, OverflowError):
        found = {}
    if not found or not all(found.values()):
        raise problem(f"{value!r} says no offsets", f'Write {words}, or {{"orders": {{"0": 23, "1": -2}}}}.')
    return found


def _offset(number: Any) -> int:
    if isinstance(number, bool) or int(number) != number or number < -2:
        raise ValueError(number)
    return int(number)


_SCHEMA = {"anyOf": [{"type": "string"}, {"type": "object"}]}
Starting = Annotated[str | Offsets, BeforeValidator(starting_of), WithJsonSchema(_SCHEMA)]
"""`earliest`, `latest`, or offsets by topic and partition; -2 and -1 mean the same two."""
Ending = Annotated[str | Offsets, BeforeValidator(ending_of), WithJsonSchema(_SCHEMA)]
"""`latest`, or offsets by topic and partition; -1 means the latest."""


class NoSuchOffsetError(ConfigError):
    """A file names an offset or a partition that is not there."""


def check_order(
    starting: str | Offsets, ending: str | Offsets, names: tuple[str, str] = ("startingOffsets", "endingOffsets")
) -> None:
    """Refuse a start that lies behind the end, as far as the words alone can tell."""
    if isinstance(starting, str) or isinstance(ending, str):
        return
    for topic, offsets in starting.items():
        for number, start in offsets.items():
            end = ending.get(topic, {}).get(number, -1)
            if start > end >= 0:
                what = f"{names[0]} {start} of {topic} {number} comes after {names[1]} {end}"
                raise problem(what, "Swap them.")


def resolved(asked: str | Offsets, there: Iterable[Extent], key: str) -> dict[Partition, int]:
    """A number for every partition, and for none that is not there."""
    found = {each.partition: each for each in there}
    if isinstance(asked, str):
        return {partition: _marked(asked, extent) for partition, extent in found.items()}
    named = {Partition(topic, number): offset for topic, offsets in asked.items() for number, offset in offsets.items()}
    _require_same(named, found, key)
    return {partition: _within(offset, found[partition], key) for partition, offset in named.items()}


def _marked(mark: str, extent: Extent) -> int:
    return extent.start if mark == EARLIEST else extent.end


def _within(offset: int, there: Extent, key: str) -> int:
    if offset in _MARKS:
        return _marked(_MARKS[offset], there)
    if not there.start <= offset <= there.end:
        raise NoSuchOffsetError(
            f"{key} of {there.partition} is {offset}, but the offsets there are {there.start} up to {there.end}.",
            hint="Write an offset that is there, -2 for the earliest or -1 for the latest.",
        )
    return offset


def _require_same(named: Mapping[Partition, int], found: Mapping[Partition, Extent], key: str) -> None:
    unknown, missing = sorted(named.keys() - found.keys()), sorted(found.keys() - named.keys())
    if not unknown and not missing:
        return
    what = f"names {unknown[0]}, which is not there" if unknown else f"does not name {missing[0]}"
    raise NoSuchOffsetError(f"{key} {what}.", hint=f"Name exactly these partitions: {_listed(found)}.")


def _listed(partitions: Iterable[Partition]) -> str:
    found: dict[str, list[str]] = defaultdict(list)
    for topic, number in sorted(partitions):
        found[topic].append(str(number))
    return "; ".join(f"{topic} {', '.join(numbers)}" for topic, numbers in found.items())


def between(there: Iterable[Extent], starts: Mapping[Partition, int], ends: Mapping[Partition, int]) -> list[Extent]:
    """What is read of each partition; a start that lies behind the end is refused."""
    return [_between(each.partition, starts[each.partition], ends[each.partition]) for each in there]


def _between(partition: Partition, start: int, end: int) -> Extent:
    if start > end:
        raise NoSuchOffsetError(
            f"Reading {partition} would begin at offset {start} and end at {end}, which comes before.",
            hint="Change startingOffsets or endingOffsets.",
        )
    return Extent(partition=partition, start=start, end=end)
