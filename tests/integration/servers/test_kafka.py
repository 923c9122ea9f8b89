"""The Kafka broker that other tests rely on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

Settings = dict[str, str | int | float | bool]

if TYPE_CHECKING:
    from tests.servers.kafka import KafkaServer


def login(server: KafkaServer, password: str) -> Settings:
    return {
        "bootstrap.servers": server.sasl,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": server.user,
        "sasl.password": password,
    }


def test_a_topic_is_made_and_takes_records(kafka: KafkaServer) -> None:
    settings: Settings = {"bootstrap.servers": kafka.plain}
    admin = AdminClient(settings)
    admin.create_topics([NewTopic("server-test", 2, 1)])["server-test"].result(20)
    producer = Producer(settings)
    producer.produce("server-test", b"1")

    assert producer.flush(20) == 0


@pytest.mark.parametrize("listener", ["sasl", "tls"])
def test_who_has_the_password_is_let_in(kafka: KafkaServer, listener: str) -> None:
    settings = login(kafka, kafka.password)
    if listener == "tls":
        settings |= {"bootstrap.servers": kafka.tls, "security.protocol": "SASL_SSL"}
        settings |= {"ssl.ca.location": str(kafka.certificate)}

    assert AdminClient(settings).list_topics(timeout=20).brokers.keys() == {1}


def test_a_wrong_password_is_refused(kafka: KafkaServer) -> None:
    with pytest.raises(KafkaException):
        AdminClient(login(kafka, "wrong")).list_topics(timeout=3)
