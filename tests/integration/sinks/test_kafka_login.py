"""Logging in to Kafka, as a source and as a sink: what a broker lets in, and that no secret is shown."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.canaries import new_canary
from tests.integration.rows import collected, frame
from tests.servers.topic import PATIENCE

import deltaworks
from deltaworks import MemoryVault
from deltaworks.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession
    from tests.servers.kafka import KafkaServer
    from tests.servers.keeper import Run
    from tests.servers.topic import TestTopic


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def scram_user(topic: TestTopic, mechanism: str, password: str) -> str:
    """A user who logs in by one mechanism only."""
    from confluent_kafka.admin._scram import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

    name, admin = f"user-{topic.name}", topic.admin()
    kind = ScramCredentialInfo(ScramMechanism[mechanism.replace("-", "_")], 4096)
    made = UserScramCredentialUpsertion(name, kind, password.encode())
    (done,) = admin.alter_user_scram_credentials([made]).values()
    done.result(PATIENCE)
    return name


@pytest.fixture
def ways(kafka: KafkaServer, topic: TestTopic, whole_run: Run) -> dict[str, dict[str, str]]:
    """Credentials by which the broker lets us in."""
    login = {"username": kafka.user, "password": kafka.password}
    proof = kafka.certificate.read_text()
    scram = new_canary(whole_run.folder)
    return {
        "plain": {"bootstrap_servers": kafka.sasl, **login},
        "scram": {
            "bootstrap.servers": kafka.sasl,
            "sasl.mechanism": "SCRAM-SHA-512",
            "username": scram_user(topic, "SCRAM-SHA-512", scram),
            "password": scram,
        },
        "tls": {"endpoint": kafka.tls, "ca": proof, "security_protocol": "SASL_SSL", "mechanism": "PLAIN", **login},
        "mutual": {
            "host": kafka.mutual.partition(":")[0],
            "port": kafka.mutual.partition(":")[2],
            "ca": proof,
            "certificate": proof,
            "key": kafka.key.read_text(),
        },
    }


@pytest.mark.parametrize("way", ["plain", "scram", "tls", "mutual"])
def test_rows_go_to_a_guarded_topic_and_come_back(
    spark: SparkSession, topic: TestTopic, ways: dict[str, dict[str, str]], way: str
) -> None:
    vault = MemoryVault({"kafka": ways[way]})
    rows: list[dict[str, Any]] = [{"id": 1, "name": "a"}, {"id": 2, "name": None}]

    sent = deltaworks.load(
        frame(spark, *rows),
        topic.sink(**{"kafka.bootstrap.servers": None}) | {"credentialId": "kafka"},
        "Append",
        vault=vault,
    )
    source = topic.source(**{"kafka.bootstrap.servers": None}, schema="id BIGINT, name STRING")
    found = deltaworks.extract(source | {"credentialId": "kafka"}, spark=spark, vault=vault)

    assert (sent.success, sent.error, sent.rows_inserted) == (True, None, 2)
    assert collected(found) == rows


@pytest.mark.parametrize("way", ["plain", "mutual"])
def test_no_secret_is_in_sparks_event_log_whoever_made_the_session(
    spark: SparkSession, topic: TestTopic, ways: dict[str, dict[str, str]], way: str
) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.redaction.string.regex", "nothing")  # as good as none: a session of somebody else's
    sink = topic.sink(**{"kafka.bootstrap.servers": None}) | {"credentialId": "kafka"}

    sent = deltaworks.load(session.range(1), sink, "Append", vault=MemoryVault({"kafka": ways[way]}))

    assert sent.success
    secret = {"plain": ways["plain"]["password"], "mutual": ways["mutual"].get("key", "").split("\n")[1]}[way]
    folder = (spark.conf.get("spark.eventLog.dir") or "").removeprefix("file:")
    logs = [path.read_text() for path in Path(folder).rglob("events_*")]
    assert any(f"KafkaWrite(Some({topic.name})" in log for log in logs)
    assert not any(secret in log or json.dumps(secret)[1:-1] in log for log in logs)
    assert session.conf.get("spark.sql.redaction.string.regex") == "nothing"


def test_the_older_scram_is_taken_too(
    spark: SparkSession, topic: TestTopic, whole_run: Run, kafka: KafkaServer
) -> None:
    password = new_canary(whole_run.folder)
    user = scram_user(topic, "SCRAM-SHA-256", password)
    topic.send({"id": 1})
    settings = {"kafka.security.protocol": "SASL_PLAINTEXT", "kafka.sasl.mechanism": "SCRAM-SHA-256"}
    source = topic.source(**{"kafka.bootstrap.servers": topic.server.sasl}, **settings) | {"credentialId": "kafka"}
    vault = MemoryVault({"kafka": {"username": user, "password": password}})

    assert collected(deltaworks.extract(source, spark=spark, vault=vault)) == [{"id": 1}]


def pipeline(extract: dict[str, Any], load: dict[str, Any]) -> dict[str, Any]:
    return {"pipelineId": "guarded", "extract": extract, "load": load, "writeMode": "Append"}


def written() -> Iterator[str]:
    for path in Path.cwd().rglob("*"):
        if path.is_file():
            yield path.read_text(errors="replace")


@pytest.mark.parametrize(
    ("end", "wrong", "said"),
    [
        ("source", {"password": "WRONG"}, "Authentication failed: Invalid username or password"),
        ("sink", {"password": "WRONG"}, "Authentication failed: Invalid username or password"),
        ("source", {"mechanism": "SCRAM-SHA-256"}, "Authentication failed"),
        ("sink", {"bootstrap_servers": "TLS", "security_protocol": "SASL_SSL"}, "certificate could not be verified"),
        ("source", {"bootstrap_servers": "TLS"}, "cannot be reached"),
        ("sink", {"security_protocol": "SASL_SSL"}, "SSL handshake failed"),
    ],
)
def test_a_login_that_the_broker_refuses_ends_before_anything_is_written_and_shows_no_secret(
    spark: SparkSession, topic: TestTopic, whole_run: Run, end: str, wrong: dict[str, str], said: str
) -> None:
    server, canary = topic.server, new_canary(whole_run.folder)
    values = {"bootstrap_servers": server.sasl, "username": server.user, "password": server.password} | {
        name: {"TLS": server.tls, "WRONG": canary}.get(value, value) for name, value in wrong.items()
    }
    spark.range(1).write.format("delta").save(str(Path.cwd() / "table"))
    table = {"sourceType": "DeltaLake", "path": str(Path.cwd() / "table")}
    guarded = {"credentialId": "kafka"}
    file = (
        pipeline(topic.source(schema="id BIGINT") | guarded, {"sinkType": "DeltaLake", "path": "out"})
        if end == "source"
        else pipeline(table, topic.sink() | guarded)
    )

    started = time.monotonic()
    with pytest.raises(SetupError, match=said) as caught:
        deltaworks.run(file, spark=spark, vault=MemoryVault({"kafka": values}))

    assert time.monotonic() - started < 15
    assert caught.value.exit_code == 3
    for secret in (canary, server.password):
        assert secret not in f"{caught.value} {caught.value.hint} {caught.value!r}"
        assert not any(secret in text for text in written())
    assert topic.received(0) == []


def test_servers_of_the_credential_win_and_the_plan_and_the_record_say_so(
    spark: SparkSession, topic: TestTopic, ways: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    topic.send({"id": 1})
    source = topic.source(**{"kafka.bootstrap.servers": "nowhere.invalid:9092"}) | {"credentialId": "kafka"}
    (tmp_path / "file.json").write_text(json.dumps(pipeline(source, {"sinkType": "DeltaLake", "path": "out"})))
    vault = MemoryVault({"kafka": ways["plain"]})

    plan = deltaworks.plan(tmp_path / "file.json", spark=spark, vault=vault)

    assert plan.notes == (
        f"bootstrap_servers is {topic.server.sasl}, as credential 'kafka' says; the file says nowhere.invalid:9092",
        "nothing is encrypted on the way to Kafka; security_protocol: SASL_SSL would do that",
    )
    assert topic.server.sasl in plan.reads
    result = deltaworks.run(tmp_path / "file.json", spark=spark, vault=vault)
    assert result.load.rows_inserted == 1
    record = next(text for text in written() if '"plan"' in text)
    assert "nowhere.invalid:9092" in record
    assert topic.server.sasl in record
