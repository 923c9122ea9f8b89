"""Brokers that do not answer, records that go away, transactions that do not end: told, and the table is as it was."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer
from tests.canaries import new_canary
from tests.integration.rows import collected
from tests.integration.sources.test_kafka import landed, located, pipeline
from tests.servers.kafka import kafka_server
from tests.servers.topic import PATIENCE, new_topic

import deltaworks
from deltaworks.errors import ConfigError, RunError, SetupError
from deltaworks.spark.errors import explained
from deltaworks.spark.kafka import broker
from deltaworks.spark.kafka.span import Partition
from deltaworks.vault import extras

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.servers.keeper import Run
    from tests.servers.topic import TestTopic
    from tests.unit.cli.outcome import Cli

DDL = "id BIGINT"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# Before Spark starts


@pytest.mark.parametrize(
    ("servers", "said"),
    [("127.0.0.1:1", "Connection refused"), ("nowhere.invalid:9092", "Failed to resolve 'nowhere.invalid:9092'")],
)
def test_a_broker_that_cannot_be_reached_is_told_in_ten_seconds_and_in_silence(
    topic: TestTopic, capfd: pytest.CaptureFixture[str], servers: str, said: str
) -> None:
    started = time.monotonic()
    with pytest.raises(SetupError, match=f"Kafka at {servers} cannot be reached: .*{said}") as caught:
        located(topic, **{"kafka.bootstrap.servers": servers}).fixed()

    assert caught.value.exit_code == 3
    assert time.monotonic() - started < 10
    assert capfd.readouterr().err == ""


def test_the_python_package_that_is_missing_is_named(topic: TestTopic, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(package: str) -> Any:
        raise ImportError(package)

    monkeypatch.setattr(extras, "import_module", missing)

    with pytest.raises(SetupError, match="`confluent_kafka` is not installed") as caught:
        located(topic).fixed()
    assert caught.value.hint == "Run `pip install 'deltaworks[kafka]'`."


def test_partitions_that_are_gone_meanwhile_are_told(topic: TestTopic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "PATIENCE", 0.5)
    found = broker.Broker(located(topic).login)  # type: ignore[attr-defined]

    with pytest.raises(SetupError, match="cannot be reached: Failed to query partition leaders"):
        found.extents([Partition(topic.name, 7)], committed=True)


@pytest.mark.parametrize(
    ("wrong", "code", "said"),
    [
        ({"topic": "not-there"}, 2, "There is no topic 'not-there'"),
        ({"topic": "not-there", "topics": ["a"]}, 2, "topic and topics are both given"),
        ({"startingOffsets": '{"TOPIC": {"0": 5, "1": 0}}'}, 2, "the offsets there are 0 up to 0"),
        ({}, 3, "Authentication failed: Invalid username or password"),
    ],
)
def test_a_command_ends_with_its_code_before_spark_starts(
    topic: TestTopic,
    cli: Cli,
    whole_run: Run,
    monkeypatch: pytest.MonkeyPatch,
    wrong: dict[str, Any],
    code: int,
    said: str,
) -> None:
    password = topic.server.password if code == 2 else new_canary(whole_run.folder)
    source = topic.source(**{"schema": DDL, **wrong}) | {"credentialId": "kafka"}
    load = {"sinkType": "DeltaLake", "path": "out"}
    text = json.dumps({"pipelineId": "read", "extract": source, "load": load, "writeMode": "Append"})
    Path("read.json").write_text(text.replace("TOPIC", topic.name))
    monkeypatch.setenv("DELTAWORKS_KAFKA__BOOTSTRAP_SERVERS", topic.server.sasl)
    monkeypatch.setenv("DELTAWORKS_KAFKA__USERNAME", topic.server.user)
    monkeypatch.setenv("DELTAWORKS_KAFKA__PASSWORD", password)
    monkeypatch.setattr("deltaworks.spark.shared.open_session", lambda *_, **__: pytest.fail("Spark was started"))

    outcome = cli("run", "read.json")

    assert outcome.code == code
    error, hint = (line for line in outcome.error if line.startswith(("Error: ", "Hint: ")))
    assert said in error
    assert hint
    assert password not in outcome.err + outcome.out


# While records are read


def test_records_that_go_before_they_are_read_fail_the_run_and_the_table_is_as_it_was(
    spark: SparkSession, topic: TestTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic.send({"id": 1})
    deltaworks.run(pipeline(topic, schema=DDL), spark=spark)
    topic.send(*({"id": number} for number in range(20)))
    monkeypatch.setenv("DELTAWORKS_FAILPOINTS", "before_commit=sleep:1.5")
    forget = threading.Timer(1.0, topic.forget, (10,))
    _on_stage("load", forget, monkeypatch)

    with pytest.raises(RunError, match="records that were there when the run began are gone") as caught:
        deltaworks.run(pipeline(topic, schema=DDL), spark=spark)

    forget.join()
    assert caught.value.exit_code == 1
    assert landed(spark) == [{"id": 1}]


def test_a_topic_that_is_removed_fails_whoever_reads_it(spark: SparkSession, topic: TestTopic) -> None:
    topic.send({"id": 1})
    source = located(topic, schema=DDL)
    rows = source.read(spark, source.fixed())
    admin = topic.admin()
    admin.delete_topics([topic.name])[topic.name].result(PATIENCE)
    time.sleep(1)

    with pytest.raises(RunError, match=r"gone|in time"), explained("load"):
        rows.count()


def test_a_broker_that_dies_while_it_is_read_fails_the_run_and_the_table_is_as_it_was(
    spark: SparkSession, whole_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    doomed = new_topic(kafka_server(whole_run, "kafka-doomed"), 1)
    for number in range(10):  # one at a time, so that they are fetched one at a time
        doomed.send({"id": number})
    impatient = {"kafka.default.api.timeout.ms": 3000, "kafka.request.timeout.ms": 2000, "schema": DDL}
    deltaworks.run(pipeline(doomed, **impatient), spark=spark)
    file = pipeline(doomed, **impatient)
    file["extract"]["options"] = {"kafkaConsumer.pollTimeoutMs": 3000, "fetchOffset.numRetries": 1}
    # One row, then a pause in which the broker dies: what comes next was not fetched yet.
    file["extract"]["connectionParams"] |= {"kafka.max.poll.records": 1, "kafka.max.partition.fetch.bytes": 1}
    pause = "java_method('java.lang.Thread', 'sleep', CAST(IF(id = 0, 4000, 0) AS BIGINT))"
    file["transform"] = [{"type": "filter", "parameters": {"condition": f"coalesce({pause}, '') <> 'x'"}}]
    killed = threading.Timer(2.0, os.kill, (doomed.server.keeper, signal.SIGKILL))
    _on_stage("load", killed, monkeypatch)

    with pytest.raises(RunError, match="Kafka did not answer in time") as caught:
        deltaworks.run(file, spark=spark)

    killed.join()
    assert caught.value.exit_code == 1
    assert len(landed(spark)) == 10


def _on_stage(name: str, timer: threading.Timer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start a timer when a run comes to a stage."""
    from deltaworks.pipeline import runner

    announce = runner._Running._announce

    def heard(running: Any, stage: str, detail: str = "") -> None:
        if stage == name:
            timer.start()
        announce(running, stage, detail)

    monkeypatch.setattr(runner._Running, "_announce", heard)


# Transactions


@pytest.fixture
def transactional(topic: TestTopic) -> Producer:
    producer = Producer({**topic.settings, "transactional.id": topic.name})
    producer.init_transactions(PATIENCE)
    return producer


def send(topic: TestTopic, producer: Producer, *ids: int) -> None:
    for number in ids:
        producer.produce(topic.name, b'{"id": %d}' % number, partition=0)
    assert producer.flush(PATIENCE) == 0


def test_records_of_transactions_that_were_aborted_or_are_open_are_not_read(
    spark: SparkSession, topic: TestTopic, transactional: Producer
) -> None:
    for ids, ends in (((1, 2), "commit"), ((3, 4), "abort"), ((5,), "commit"), ((6,), "open")):
        transactional.begin_transaction()
        send(topic, transactional, *ids)
        if ends != "open":
            (transactional.commit_transaction if ends == "commit" else transactional.abort_transaction)(PATIENCE)

    result = deltaworks.run(pipeline(topic, metadata="offset"), spark=spark)

    # Between them lie a mark for each end of a transaction, and the records of the aborted one.
    assert [(row["id"], row["_offset"]) for row in landed(spark)] == [(1, 0), (2, 1), (5, 6)]
    assert result.load.rows_read == 3
    with pytest.raises(ConfigError, match=r"endingOffsets of .* 0 is 9, but the offsets there are 0 up to 8"):
        located(topic, schema=DDL, endingOffsets={topic.name: {"0": 9, "1": 0}}).fixed()
    read = deltaworks.extract(topic.source(schema=DDL, **{"kafka.isolation.level": "read_uncommitted"}), spark=spark)
    assert [row["id"] for row in collected(read)] == [1, 2, 3, 4, 5, 6]
    transactional.abort_transaction(PATIENCE)


def test_a_topic_of_nothing_but_aborted_records_has_no_rows(
    spark: SparkSession, topic: TestTopic, transactional: Producer
) -> None:
    transactional.begin_transaction()
    send(topic, transactional, 1, 2)
    transactional.abort_transaction(PATIENCE)

    assert deltaworks.extract(topic.source(schema=DDL), spark=spark).count() == 0
    with pytest.raises(ConfigError, match="No record that was looked at is a JSON object"):
        deltaworks.extract(topic.source(), spark=spark)
