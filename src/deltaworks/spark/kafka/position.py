"""How far topics were read, and whether reading can go on from there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from deltaworks.errors import RefusedError
from deltaworks.spark.kafka.span import MOST_SHOWN, Extent, Partition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deltaworks.spark.kafka.broker import Broker


@dataclass(frozen=True, slots=True)
class KafkaPosition:
    """The next offset of each partition, by topic, and the id that each topic had."""

    offsets: dict[str, dict[str, int]]
    topics: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, position: Any) -> Self:
        """Understand a position as a commit spells it."""
        return cls(position["offsets"], position.get("topics") or {})

    @staticmethod
    def offsets_in(said: Any) -> Any:
        """The offsets that a person wrote, by topic; a topic may be called `offsets` too."""
        inner = said.get("offsets") if isinstance(said, dict) else None
        return inner if inner and all(isinstance(each, dict) for each in inner.values()) else said

    @classmethod
    def at(cls, broker: Broker, offsets: Mapping[Partition, int]) -> Self:
        """The position at these offsets, of topics that are there."""
        found: dict[str, dict[str, int]] = {}
        for partition in sorted(offsets):
            found.setdefault(partition.topic, {})[str(partition.number)] = offsets[partition]
        return cls(found, broker.topic_ids(found))

    def to_dict(self) -> dict[str, Any]:
        """Spell it as a commit does."""
        return {"offsets": self.offsets, "topics": self.topics}

    def by_partition(self) -> dict[Partition, int]:
        """The next offset of each partition."""
        named = (
            (topic, number, self.offsets[topic][number]) for topic in self.offsets for number in self.offsets[topic]
        )
        return {Partition(topic, int(number)): offset for topic, number, offset in named}

    def up_to(self, end: KafkaPosition) -> list[Extent]:
        """What lies between two positions; of a partition that came later, all of it."""
        starts = self.by_partition()
        ends = sorted(end.by_partition().items())
        return [Extent(partition=each, start=starts.get(each, 0), end=offset) for each, offset in ends]

    def require_there(self, broker: Broker, there: Sequence[Extent]) -> None:
        """Refuse topics that were made anew, and offsets that are gone or were never there."""
        now = {each.partition: each for each in there}
        self.require_same(broker.topic_ids({each.topic for each in now}))
        for partition, offset in self.by_partition().items():
            _require_within(partition, offset, now.get(partition))

    def require_same(self, ids: Mapping[str, str]) -> None:
        """Refuse topics that were made anew."""
        for topic, known in self.topics.items():
            if ids.get(topic, known) != known:
                raise OffsetsGoneError(f"Topic {topic!r} was deleted and made anew")

    def __str__(self) -> str:
        several = len(self.offsets) > 1
        names = [
            f"{each if several else f'partition {each.number}'} at {offset}"
            for each, offset in sorted(self.by_partition().items())
        ]
        more = [f"and {len(names) - MOST_SHOWN:,} more"] if len(names) > MOST_SHOWN else []
        return ", ".join([*names[:MOST_SHOWN], *more])


def _require_within(partition: Partition, offset: int, there: Extent | None) -> None:
    if there is None:
        raise OffsetsGoneError(f"{partition} is not there any more, and was read up to offset {offset}")
    if offset > there.end:
        raise OffsetsGoneError(
            f"{partition} was read up to offset {offset}, but has offsets up to {there.end} only: "
            "was the topic made anew?"
        )
    if offset < there.start:
        raise OffsetsGoneError(
            f"{partition} was read up to offset {offset}, and its records begin at {there.start} now: "
            f"{there.start - offset:,} were removed before they were read"
        )


class OffsetsGoneError(RefusedError):
    """Records that should be read next are not there: going on would lose or mistake rows."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"{why}.",
            hint="Load everything again with `deltaworks run FILE --full-refresh`; or say where to go on: "
            "`deltaworks state set FILE --position …`.",
        )
