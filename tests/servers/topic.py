"""Topics of the broker, and the records in them, without what is tested."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from confluent_kafka import Message

    from tests.servers.kafka import KafkaServer

PATIENCE = 20  # seconds
Settings = dict[str, str | int | float | bool]


@dataclass(frozen=True, slots=True)
class TestTopic:
    """One topic."""

    __test__ = False  # the name looks like a class of tests

    server: KafkaServer
    name: str

    @property
    def settings(self) -> Settings:
        """The way to the broker, for its own clients."""
        return {"bootstrap.servers": self.server.plain, "log_level": 0}

    def admin(self) -> Any:
        """A client that may do everything."""
        from confluent_kafka.admin import AdminClient

        return AdminClient(self.settings)

    def send(
        self, *values: Any, partition: int = 0, key: Any = None, at: int | None = None, headers: Any = None
    ) -> None:
        """Add records to a partition; what is neither bytes nor none becomes JSON."""
        from confluent_kafka import Producer

        producer = Producer(self.settings)
        facts = {"partition": partition, "key": key, "headers": headers} | ({"timestamp": at} if at else {})
        for value in values:
            producer.produce(self.name, as_bytes(value), **facts)
        assert producer.flush(PATIENCE) == 0

    def forget(self, before: int, partition: int = 0) -> None:
        """Remove the first records of a partition, as retention does."""
        from confluent_kafka import TopicPartition

        admin = self.admin()
        (done,) = admin.delete_records([TopicPartition(self.name, partition, before)]).values()
        done.result(PATIENCE)

    def received(self, number: int) -> list[Message]:
        """So many records, and no more: the topic ends there."""
        return list(_received(self, number))

    def source(self, **params: Any) -> dict[str, Any]:
        """The `extract` part for it."""
        inner = {"topic": self.name, "kafka.bootstrap.servers": self.server.plain, **params}
        return {"sourceType": "Kafka", "connectionParams": without_none(inner)}

    def sink(self, **params: Any) -> dict[str, Any]:
        """The `load` part for it."""
        inner = {"topic": self.name, "kafka.bootstrap.servers": self.server.plain, **params}
        return {"sinkType": "Kafka", "connectionParams": without_none(inner)}


def new_topic(server: KafkaServer, partitions: int = 2, name: str | None = None, **config: str) -> TestTopic:
    """Make a topic."""
    from confluent_kafka.cimpl import NewTopic

    topic = TestTopic(server, name or f"test-{uuid.uuid4().hex[:12]}")
    admin = topic.admin()
    admin.create_topics([NewTopic(topic.name, partitions, 1, config=config)])[topic.name].result(PATIENCE)
    return topic


def as_bytes(value: Any) -> bytes | None:
    """A value as it travels."""
    return value if value is None or isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()


def without_none(values: dict[str, Any]) -> dict[str, Any]:
    """Those that are there."""
    return {name: value for name, value in values.items() if value is not None}


def _received(topic: TestTopic, number: int) -> Iterator[Message]:
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({**topic.settings, "group.id": uuid.uuid4().hex, "enable.auto.commit": False})
    partitions = topic.admin().list_topics(topic.name, timeout=PATIENCE).topics[topic.name].partitions
    consumer.assign([TopicPartition(topic.name, each, 0) for each in partitions])
    try:
        for _ in range(number):
            found: Sequence[Message] = consumer.consume(1, PATIENCE)
            assert found, "a record is missing"
            yield from found
        assert not consumer.consume(1, 0.5), "there are more records"
    finally:
        consumer.close()
