from __future__ import annotations

import pytest

from deltaworks.errors import AwayError, RunError, SetupError
from deltaworks.spark.kafka.broker import KafkaUnreachableError, TopicNotFoundError
from deltaworks.spark.kafka.told import told

LOST = (
    "Some data may have been lost because they are not available in Kafka any more;\nIf you don't want … false.\n"
    "Reason: Could not read records in offset [0, 20) for topic partition a-0 with consumer group x. SQLSTATE: 22000"
)


@pytest.mark.parametrize(
    ("message", "kind", "said"),
    [
        (LOST, RunError, "are gone: Could not read records in offset [0, 20) for topic partition a-0"),
        ("This server does not host this topic-partition.", RunError, "are gone"),
        ("The message is 9 bytes when serialized which is larger than 1, …", RunError, "too large for Kafka"),
        ("The request included a message larger than the max message size …", RunError, "too large for Kafka"),
        ("Cannot fetch record for offset 5 in 4000 milliseconds", AwayError, "did not answer in time"),
        ("Timed out waiting for a node assignment. Call: listNodes", AwayError, "did not answer in time"),
        ("Expiring 3 record(s) for a-0:3000 ms has passed since batch creation", AwayError, "did not answer in time"),
        ("Topic a not present in metadata after 3000 ms.", AwayError, "did not answer in time"),
        ("Authentication failed: Invalid username or password", SetupError, "does not let Spark in"),
        ("Not authorized to access topics: [a]", SetupError, "lacks a right"),
    ],
)
def test_what_the_java_client_says_is_told_in_our_words(message: str, kind: type[Exception], said: str) -> None:
    found = told(["Job aborted due to stage failure: …", message], "load")

    assert type(found) is kind
    assert str(found).startswith("load: ")
    assert said in str(found)


def test_what_kafka_has_not_said_is_for_others_to_tell() -> None:
    assert told(["Job aborted", "No space left on device"], "load") is None


@pytest.mark.parametrize(
    ("why", "said", "hint"),
    [
        (
            "sasl_plaintext://a:1/bootstrap: SASL authentication error: Authentication failed: Invalid username or "
            "password (after 301ms in state AUTH_REQ)",
            "SASL authentication error: Authentication failed: Invalid username or password.",
            "Check username, password and mechanism in the credential.",
        ),
        (
            "a:1/bootstrap: Connect to ipv4#a:1 failed: Connection refused (after 0ms in state CONNECT)",
            "Connect to ipv4#a:1 failed: Connection refused.",
            "Check host and port, and that the broker runs.",
        ),
        (
            "error:0A000086:SSL routines::certificate verify failed",
            "SSL handshake failed: the certificate could not be verified.",
            "Check ca, certificate and key in the credential",
        ),
        (
            "error:0A00010B:SSL routines::wrong version number",
            "SSL handshake failed: wrong version number.",
            "Check the address, and whether the port wants TLS",
        ),
        ("Local: Broker transport failure", "Local: Broker transport failure.", "Check the address, and whether the"),
    ],
)
def test_what_librdkafka_says_is_told_without_its_own_words(why: str, said: str, hint: str) -> None:
    found = KafkaUnreachableError("a:1", why)

    assert str(found) == f"Kafka at a:1 cannot be reached: {said}"
    assert found.hint.startswith(hint)


@pytest.mark.parametrize(
    ("known", "hint"),
    [
        (["orders", "customers", "__consumer_offsets"], "Close to it: orders."),
        (["x", "y", "__consumer_offsets"], "Topics there: x, y."),
        ([f"topic-{number:03}" for number in range(200)], "topic-019 and 180 more."),
        (["__consumer_offsets"], "This user sees no topic there."),
    ],
)
def test_a_topic_that_is_not_there_is_told_with_those_close_to_it(known: list[str], hint: str) -> None:
    assert hint in TopicNotFoundError("There is no topic", "ordres", known).hint
