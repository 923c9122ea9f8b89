"""A few records of a span, by which the columns of JSON are found out."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from deltaworks.spark.kafka.span import Extent, Partition

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deltaworks.spark.kafka.broker import Broker

MOST_RECORDS = 1_000
MOST_PARTITIONS = 50
MOST_BYTES = 1 << 20
MOST_DIGITS = 1_000  # of a number, as many as Spark reads
MOST_DEPTH = 100  # of objects and lists in each other
PATIENCE = 10.0  # seconds


def sampled(broker: Broker, extents: Sequence[Extent], *, committed: bool, group: str | None = None) -> list[str]:
    """JSON objects among the first and the last records of the partitions; what is none is passed over."""
    some = spread([each for each in extents if each.length])
    if not some:
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
    deadline = time.monotonic() + PATIENCE
    try:
        first = _read(consumer, first_windows(some), deadline)
        last = _read(consumer, last_windows(some, first), deadline)
    finally:
        consumer.close()
    return bounded(text for window in (*first, *last) for text in window.values)


def bounded(texts: Iterable[str]) -> list[str]:
    """Those that fit into the bytes of all windows; of many long ones the shorter, and one at least."""
    found = sorted(texts, key=len)
    total = accumulate(map(len, found))
    return [text for at, (text, upto) in enumerate(zip(found, total, strict=True)) if not at or upto <= 4 * MOST_BYTES]


@dataclass(slots=True, kw_only=True)
class Window:
    """Some offsets of a partition, and what was kept of their records: so many bytes, but one object at least."""

    extent: Extent
    most: int  # bytes to keep
    values: list[str] = field(default_factory=list)
    size: int = 0  # bytes kept
    records: int = 0  # seen
    seen: int = 0  # their bytes
    reached: int | None = None  # the first offset that was not looked at; none where all were
    newest: bool = False  # whether the last ones are kept, where not all can be

    def add(self, value: bytes | None) -> None:
        """Look at the next record, and keep it if it is a JSON object and there is room."""
        self.records += 1
        self.seen += len(value or b"")
        text = _object(value or b"")
        if text is None:
            return
        while self.newest and self.values and self.size + len(text) > self.most:
            self.size -= len(self.values.pop(0))
        if not self.values or self.size + len(text) <= self.most:
            self.values.append(text)
            self.size += len(text)

    @property
    def full(self) -> bool:
        """Whether what comes next would not be kept either."""
        return not self.newest and self.seen >= self.most

    @property
    def end(self) -> int:
        """Up to where records were looked at."""
        return self.extent.end if self.reached is None else self.reached

    @property
    def record_bytes(self) -> int:
        """How long a record is, about."""
        return max(self.seen // max(self.records, 1), 1)


def first_windows(extents: Sequence[Extent]) -> list[Window]:
    """The first offsets of the partitions, each with the same share of one half of the bytes."""
    most, share = MOST_BYTES // 2 // max(len(extents), 1), _records(extents)
    return [Window(extent=replace(each, end=min(each.start + share, each.end)), most=most) for each in extents]


def last_windows(extents: Sequence[Extent], first: Sequence[Window]) -> list[Window]:
    """The last offsets of the partitions, with what the first have left of the bytes.

    So few of them that they fit, if the records are as long as the first ones: only then is the end reached.
    """
    share = _records(extents)
    left = [(each, begun) for each, begun in zip(extents, first, strict=True) if each.end > begun.end]
    most = max(MOST_BYTES - sum(each.size for each in first), 0) // max(len(left), 1)
    return [
        Window(
            extent=replace(each, start=max(each.end - min(share, most // begun.record_bytes + 1), begun.end)),
            most=most,
            newest=True,
        )
        for each, begun in left
    ]


def _records(extents: Sequence[Extent]) -> int:
    """How many records of each end are looked at."""
    return max(MOST_RECORDS // (2 * max(len(extents), 1)), 1)


def spread(extents: Sequence[Extent]) -> list[Extent]:
    """Not too many partitions, from all over."""
    step = max(-(-len(extents) // MOST_PARTITIONS), 1)
    return list(extents[::step])


def _object(value: bytes) -> str | None:
    """The text of a JSON object; none for what is none, or so odd that Spark would not read it."""
    try:
        text = value.decode("utf-8")
        found = json.loads(text, parse_int=_number, parse_float=_number)
        return text if isinstance(found, dict) and _depth(found) <= MOST_DEPTH else None
    except (ValueError, RecursionError):
        return None


def _number(digits: str) -> str:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return digits


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)


def _read(consumer: Any, windows: list[Window], deadline: float) -> list[Window]:
    """Fill the windows with what the broker has there, while there is time."""
    from confluent_kafka import TopicPartition

    open_ones = {each.extent.partition: each for each in windows}
    consumer.assign([TopicPartition(*each.extent.partition, each.extent.start) for each in windows])
    while open_ones and time.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is None:
            continue
        where = Partition(message.topic() or "", message.partition() or 0)
        if where not in open_ones:
            continue
        window = open_ones[where]
        if message.error() is None and message.offset() < window.extent.end:
            window.add(message.value())
        # An error is the end of the partition, or says that it cannot be read now.
        if message.error() is not None or message.offset() + 1 >= window.extent.end or window.full:
            window.reached = message.offset() + 1 if window.full else None
            del open_ones[where]
            consumer.incremental_unassign([TopicPartition(*where)])
    return windows
