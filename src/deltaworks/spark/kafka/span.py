"""Which records of which partitions one run reads: offsets, all of them numbers."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_SHOWN = 20  # partitions


class Partition(NamedTuple):
    """One partition of a topic."""

    topic: str
    number: int

    def __str__(self) -> str:
        return f"{self.topic} {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """Offsets of one partition: from the first up to the last, which is not included."""

    partition: Partition
    start: int
    end: int

    @property
    def length(self) -> int:
        """How many offsets there are; not each of them need have a record."""
        return self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSpan:
    """What one run reads, decided before the first record."""

    extents: tuple[Extent, ...]
    sample: tuple[str, ...] = field(default=(), repr=False)  # JSON objects by which columns are found out

    def to_options(self) -> dict[str, str]:
        """Spell it as options of Spark's reader."""
        return {
            "assign": json.dumps(_by_topic((each.partition, None) for each in self.extents)),
            "startingOffsets": _offsets((each.partition, each.start) for each in self.extents),
            "endingOffsets": _offsets((each.partition, each.end) for each in self.extents),
        }

    def __str__(self) -> str:
        topics = sorted({each.partition.topic for each in self.extents})
        some = [each for each in self.extents if each.length]
        shown = [_shown(each, several=len(topics) > 1) for each in some[:MOST_SHOWN]]
        more = [f"and {len(some) - MOST_SHOWN:,} partitions more"] if len(some) > MOST_SHOWN else []
        name = f"Kafka topic{'s' if len(topics) > 1 else ''} {', '.join(topics)}"
        return f"{name}: {', '.join([*shown, *more]) or 'no records'}"


def _shown(extent: Extent, *, several: bool) -> str:
    name = f"{extent.partition}" if several else f"partition {extent.partition.number}"
    return f"{name} from offset {extent.start} up to {extent.end}"


def _by_topic(pairs: Iterable[tuple[Partition, None]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for partition, _ in pairs:
        found[partition.topic].append(partition.number)
    return found


def _offsets(pairs: Iterable[tuple[Partition, int]]) -> str:
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for partition, offset in pairs:
        found[partition.topic][str(partition.number)] = offset
    return json.dumps(found)
