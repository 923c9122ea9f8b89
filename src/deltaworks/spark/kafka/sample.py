"""A few records of a span, by which the columns of JSON are found out."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from deltaworks.spark.kafka.span import Extent, Partition

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deltaworks.spark.kafka.broker import Broker

MOST_RECORDS = 1_000
MOST_PARTITIONS = 50
MOST_BYTES = 1 << 20
PATIENCE = 10.0  # seconds


def sampled(broker: Broker, extents: Sequence[Extent], *, committed: bool, group: str | None = None) -> list[str]:
    """JSON objects among the first and the last records of the partitions; what is none is passed over."""
    if not any(each.length for each in extents):
        return []
    consumer = broker.consumer(
        **{
            "group.id": group or f"deltaworks-{uuid.uuid4()}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed" if committed else "read_uncommitted",
            "fetch.message.max.bytes": MOST_BYTES // 4,
            "queued.max.messages.kbytes": MOST_BYTES // 1024,
        }
    )
    deadline, found = time.monotonic() + PATIENCE, Found()
    try:
        for part in windows(extents):
            _read(consumer, part, found, deadline)
    finally:
        consumer.close()
    return found.values


def windows(extents: Sequence[Extent]) -> tuple[list[Extent], list[Extent]]:
    """The first offsets of the partitions, and the last ones, as many of each."""
    some = _spread([each for each in extents if each.length], MOST_PARTITIONS)
    share = max(MOST_RECORDS // (2 * max(len(some), 1)), 1)
    first = [replace(each, end=min(each.start + share, each.end)) for each in some]
    last = [replace(each, start=max(each.end - share, begun.end)) for each, begun in zip(some, first, strict=True)]
    return first, [each for each in last if each.length]


def _spread(extents: Sequence[Extent], most: int) -> list[Extent]:
    step = max(-(-len(extents) // most), 1)
    return list(extents[::step])


class Found:
    """What was read so far."""

    def __init__(self) -> None:
        self.values: list[str] = []
        self.bytes = 0

    def add(self, value: bytes | None) -> None:
        """Keep a value that is a JSON object, while there is room."""
        text = _object(value or b"")
        if text is not None and self.bytes + len(text) <= MOST_BYTES:
            self.values.append(text)
            self.bytes += len(text)


def _object(value: bytes) -> str | None:
    try:
        text = value.decode("utf-8")
        return text if isinstance(json.loads(text), dict) else None
    except (ValueError, RecursionError):
        return None


def _read(consumer: Any, part: Iterable[Extent], found: Found, deadline: float) -> None:
    from confluent_kafka import TopicPartition

    ends = {each.partition: each.end for each in part}
    consumer.assign([TopicPartition(*each.partition, each.start) for each in part])
    while ends and time.monotonic() < deadline and found.bytes < MOST_BYTES:
        message = consumer.poll(0.5)
        if message is None:
            continue
        where = Partition(message.topic() or "", message.partition() or 0)
        if where not in ends:
            continue
        if message.error() is None and message.offset() < ends[where]:
            found.add(message.value())
        # An error is the end of the partition, or says that it cannot be read now.
        if message.error() is not None or message.offset() + 1 >= ends[where]:
            del ends[where]
