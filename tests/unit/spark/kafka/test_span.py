from __future__ import annotations

import json

from deltaworks.spark.kafka.span import Extent, KafkaSpan, Partition


def extent(topic: str, number: int, start: int, end: int) -> Extent:
    return Extent(partition=Partition(topic, number), start=start, end=end)


def test_a_span_is_spelled_as_spark_takes_it() -> None:
    span = KafkaSpan(extents=(extent("a", 0, 5, 10), extent("a", 1, 0, 0), extent("b", 0, 1, 2)))

    options = {name: json.loads(text) for name, text in span.to_options().items()}

    assert options == {
        "assign": {"a": [0, 1], "b": [0]},
        "startingOffsets": {"a": {"0": 5, "1": 0}, "b": {"0": 1}},
        "endingOffsets": {"a": {"0": 10, "1": 0}, "b": {"0": 2}},
    }


def test_a_span_is_told_in_one_line() -> None:
    one = KafkaSpan(extents=(extent("a", 0, 5, 10), extent("a", 1, 0, 0)))
    two = KafkaSpan(extents=(extent("a", 0, 5, 10), extent("b", 0, 0, 7)))

    assert str(one) == "Kafka topic a: partition 0 from offset 5 up to 10"
    assert str(two) == "Kafka topics a, b: a 0 from offset 5 up to 10, b 0 from offset 0 up to 7"
    assert str(KafkaSpan(extents=(extent("a", 0, 5, 5),))) == "Kafka topic a: no records"


def test_of_many_partitions_some_are_told() -> None:
    many = KafkaSpan(extents=tuple(extent("a", number, 0, 1) for number in range(1030)))

    assert str(many).endswith("partition 19 from offset 0 up to 1, and 1,010 partitions more")


def test_a_sample_is_not_shown() -> None:
    assert "{" not in repr(KafkaSpan(extents=(), sample=('{"id": 1}',)))
