"""Rows into a topic: values, keys and headers; what is refused before anything is sent."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import both, collected, frame, stored
from tests.servers.topic import new_topic

import deltaworks
from deltaworks.errors import ConfigError, RunError, SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from confluent_kafka import Message
    from pyspark.sql import SparkSession
    from tests.servers.kafka import KafkaServer
    from tests.servers.topic import TestTopic

AVRO = json.dumps(
    {
        "type": "record",
        "name": "order",
        "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"]}],
    }
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def headers(message: Message) -> dict[str, str]:
    return {name: value.decode() for name, value in message.headers() or ()}  # type: ignore[union-attr, str-unpack]


def pipeline(topic: TestTopic, path: Path, /, **params: Any) -> dict[str, Any]:
    return {
        "pipelineId": "send",
        "extract": {"sourceType": "DeltaLake", "path": str(path)},
        "load": topic.sink(**params),
        "writeMode": "Append",
    }


def table(spark: SparkSession, *rows: dict[str, Any]) -> Path:
    path = Path.cwd() / "table"
    frame(spark, *rows).write.format("delta").save(str(path))
    return path


VALUES = """SELECT 1 AS id, TIMESTAMP'2024-01-01 01:02:03.123456' AS at, TIMESTAMP_NTZ'2024-01-01 01:02:03' AS local,
 DATE'2024-02-29' AS day, CAST(1.10 AS DECIMAL(5,2)) AS price, 0.5D AS rate, true AS paid, X'0001' AS raw,
 array('a', NULL) AS tags, named_struct('x', 1, 'y', CAST(NULL AS INT)) AS by, map('k', 1) AS more,
 'ü"' AS name, CAST(NULL AS STRING) AS none"""


def test_a_value_is_a_json_object_with_all_columns_to_the_microsecond(spark: SparkSession, topic: TestTopic) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")  # which must not matter
    rows = session.sql(VALUES.replace("03.123456'", "03.123456Z'"))

    assert deltaworks.load(rows, topic.sink(), "Append").success

    (message,) = topic.received(1)
    assert message.key() is None
    assert json.loads(message.value() or b"") == {
        "id": 1,
        "at": "2024-01-01T01:02:03.123456Z",
        "local": "2024-01-01T01:02:03.000000",
        "day": "2024-02-29",
        "price": 1.10,
        "rate": 0.5,
        "paid": True,
        "raw": "AAE=",
        "tags": ["a", None],
        "by": {"x": 1, "y": None},
        "more": {"k": 1},
        "name": 'ü"',
        "none": None,
    }


@pytest.mark.parametrize(
    ("columns", "key"),
    [
        ("name", "ü\"'"),
        ("n", "7"),
        ("at", "2024-01-01T00:00:00.000001Z"),
        ("none", None),
        ("NAME", "ü\"'"),
        (["n", "none"], '{"n":7,"none":null}'),
        ("by", '{"x":1}'),
    ],
)
def test_a_key_is_the_value_of_one_column_as_text_or_of_several_as_json(
    spark: SparkSession, topic: TestTopic, columns: Any, key: str | None
) -> None:
    rows = spark.sql(
        "SELECT 'ü\"\\'' AS name, 7 AS n, TIMESTAMP'2024-01-01 00:00:00.000001Z' AS at, "
        "CAST(NULL AS STRING) AS none, named_struct('x', 1) AS by"
    )

    assert deltaworks.load(rows, topic.sink(keyColumns=columns), "Append").success

    (message,) = topic.received(1)
    found = message.key()
    assert (found.decode() if isinstance(found, bytes) else found) == key


KEYS = {
    "CAST(123456789012345678.91 AS DECIMAL(20,2))": "123456789012345678.91",
    "CAST(123456789012345678.92 AS DECIMAL(20,2))": "123456789012345678.92",
    "CAST(1.10 AS DECIMAL(5,2))": "1.10",
    "CAST(-100000000 AS DECIMAL(12,2))": "-100000000.00",
    "CAST('12345678901234567890123456789012345678' AS DECIMAL(38,0))": "12345678901234567890123456789012345678",
    "CAST(NULL AS DECIMAL(5,2))": None,
    "array(1.10BD, NULL)": "[1.10,null]",
    "named_struct('p', 1.10BD, 'at', TIMESTAMP'2024-01-01 00:00:00Z')": '{"p":1.10,"at":"2024-01-01T00:00:00.000000Z"}',
    "map('p', 1.10BD)": '{"p":1.10}',
    "CAST(NULL AS ARRAY<INT>)": None,
    "0.1D": "0.1",
    "DATE'2024-01-01'": "2024-01-01",
    "true": "true",
}


def test_a_key_keeps_every_digit(spark: SparkSession, kafka: KafkaServer) -> None:
    topic = new_topic(kafka, 1)
    columns = ", ".join(f"{sql} AS c{number}" for number, sql in enumerate(KEYS))
    row = spark.sql(f"SELECT {columns}")

    for number in range(len(KEYS)):
        assert deltaworks.load(row.selectExpr(f"c{number} AS k"), topic.sink(keyColumns="k"), "Append").success

    keys = (message.key() for message in sorted(topic.received(len(KEYS)), key=lambda each: each.offset() or 0))
    assert [key.decode() if isinstance(key, bytes) else key for key in keys] == list(KEYS.values())


def test_headers_tell_the_pipeline_the_run_and_the_row(spark: SparkSession, topic: TestTopic) -> None:
    path = table(spark, {"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 2, "name": "b"})

    first = deltaworks.run(pipeline(topic, path, keyColumns="id"), spark=spark)
    second = deltaworks.run(pipeline(topic, path, keyColumns="id"), spark=spark)

    messages = topic.received(6)
    found = [(headers(each), each.key(), each.value()) for each in messages]
    assert {each["deltaworks-pipeline"] for each, _, _ in found} == {"send"}
    assert {each["deltaworks-run"] for each, _, _ in found} == {first.run_id, second.run_id}
    for each, key, value in found:
        assert each["deltaworks-row"] == hashlib.sha256(key + b"\0" + value).hexdigest()  # type: ignore[operator]
    assert len({each["deltaworks-row"] for each, _, _ in found}) == 2


def test_the_producer_is_idempotent_as_the_log_of_the_broker_shows(spark: SparkSession, kafka: KafkaServer) -> None:
    topic, plain = new_topic(kafka, 1), new_topic(kafka, 1)
    plain.send({"id": 1})  # by a producer that is not

    assert deltaworks.load(spark.range(100).coalesce(1), topic.sink(), "Append").success

    # Kafka's client refuses idempotence with any other acks than all, and hands out sequences then only.
    batches = list(batches_of(topic))
    assert batches
    assert all(producer >= 0 and sequence >= 0 for producer, sequence in batches)
    assert [producer for producer, _ in batches_of(plain)] == [-1]


def batches_of(topic: TestTopic) -> Iterator[tuple[int, int]]:
    """The producer and the first sequence number of every batch, as the broker has them on disk."""
    (log,) = topic.server.certificate.parent.glob(f"data/{topic.name}-0/*.log")
    data = log.read_bytes()
    while data:
        # Offset, length, epoch, version, checksum, attributes, last offset, two times, producer, its epoch, sequence.
        _, length, _, _, _, _, _, _, _, producer, _, sequence = struct.unpack_from(">qiibihiqqqhi", data)
        yield producer, sequence
        data = data[12 + length :]


@pytest.mark.parametrize("said", ["kafka.acks", "kafka.enable.idempotence"])
def test_that_cannot_be_turned_off(spark: SparkSession, topic: TestTopic, said: str) -> None:
    result = deltaworks.load(spark.range(1), topic.sink(**{said: "0"}), "Append")

    assert f"{said} cannot be set" in str(result.error)


def test_rows_that_are_loaded_from_python_have_no_pipeline(spark: SparkSession, topic: TestTopic) -> None:
    deltaworks.load(spark.range(1), topic.sink(), "Append")

    (message,) = topic.received(1)
    assert headers(message).keys() == {"deltaworks-run", "deltaworks-row"}


@pytest.mark.parametrize("said", [{}, {"schema": AVRO}, {"schemaName": "order.avsc"}], ids=["rows", "text", "file"])
def test_avro_goes_out_and_comes_back(
    spark: SparkSession, topic: TestTopic, tmp_path: Path, said: dict[str, str]
) -> None:
    (tmp_path / "order.avsc").write_text(AVRO)
    rows: list[dict[str, Any]] = [{"id": 1, "name": "ü"}, {"id": 2, "name": None}]
    schema = "id BIGINT NOT NULL, name STRING" if said else "id BIGINT, name STRING"
    said = {key: str(tmp_path / value) if key == "schemaName" else value for key, value in said.items()}

    result = deltaworks.load(frame(spark, *rows, schema=schema), topic.sink(valueFormat="avro", **said), "Append")

    own = (
        AVRO
        if said
        else AVRO.replace('"type": "long"', '"type": ["long", "null"]').replace(
            '["null", "string"]', '["string", "null"]'
        )
    )
    assert (result.success, result.error, result.rows_inserted) == (True, None, 2)
    source = topic.source(valueFormat="avro", schema=own)
    assert collected(deltaworks.extract(source, spark=spark)) == rows


def test_every_row_comes_back_from_topic_to_topic_to_table(
    spark: SparkSession, kafka: KafkaServer, topic: TestTopic
) -> None:
    other = new_topic(kafka, 3)
    sent = [{"id": number, "name": f"n{number % 7}", "half": number / 2} for number in range(200)]
    topic.send(*sent[:120])
    topic.send(*sent[120:], partition=1)
    between = {
        "pipelineId": "between",
        "extract": topic.source(),
        "load": other.sink(keyColumns=["id"]),
        "writeMode": "Append",
    }
    home = {
        "pipelineId": "home",
        "extract": other.source(metadata="key"),
        "load": {"sinkType": "DeltaLake", "path": "out"},
        "writeMode": "Append",
    }

    first = deltaworks.run(between, spark=spark).load
    deltaworks.run(home, spark=spark)

    assert (first.rows_read, first.rows_inserted, first.rows_written, first.version) == (200, 200, 200, None)
    expected = [row | {"_key": str(row["id"])} for row in sent]
    found = [{key: row[key] for key in ("id", "name", "half", "_key")} for row in both(spark, Path.cwd() / "out")]
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert len(other.received(200)) == 200


def test_no_rows_at_all_are_a_load_of_none(spark: SparkSession, topic: TestTopic) -> None:
    result = deltaworks.load(spark.range(0), topic.sink(), "Append")

    assert (result.success, result.rows_read, result.rows_inserted) == (True, 0, 0)
    assert topic.received(0) == []


# What the plan says, and what is refused before anything is sent


def test_the_plan_says_that_rows_may_be_sent_twice(spark: SparkSession, topic: TestTopic) -> None:
    path = table(spark, {"id": 1})
    file = Path.cwd() / "send.json"
    file.write_text(json.dumps(pipeline(topic, path)))

    plan = deltaworks.plan(file, spark=spark)

    assert plan.write.action == f"add json records to the topic {topic.name} at {topic.server.plain}"
    assert plan.write.target == f"kafka://{topic.server.plain}/{topic.name}"
    assert any("at least once" in note for note in plan.write.notes)
    assert [(each.name, each.type) for each in plan.write.columns] == [("id", "bigint")]
    assert topic.received(0) == []
    assert any("at least once" in note for note in deltaworks.run(file, spark=spark).load.notes)


@pytest.mark.parametrize(
    ("params", "kind", "said"),
    [
        ({"topic": "not-there"}, ConfigError, "There is no topic 'not-there'"),
        ({"kafka.bootstrap.servers": "nowhere.invalid:1"}, SetupError, "Kafka at nowhere.invalid:1 cannot be reached"),
        ({"keyColumns": "ident"}, ConfigError, "There is no column 'ident'"),
        ({"valueFormat": "avro", "schema": AVRO}, ConfigError, "the rows have no 'name', which the schema has"),
        (
            {"valueFormat": "avro", "schema": AVRO.replace('"name": "id"', '"name": "id2"')},
            ConfigError,
            "the schema has no 'id'",
        ),
    ],
)
def test_what_cannot_be_sent_is_refused_by_the_plan(
    spark: SparkSession, topic: TestTopic, params: dict[str, Any], kind: type[Exception], said: str
) -> None:
    path = table(spark, {"id": 1})

    with pytest.raises(kind, match=said):
        deltaworks.run(pipeline(topic, path, **params), spark=spark)
    assert topic.received(0) == []


def test_a_topic_that_is_not_there_is_told_with_how_to_make_it(spark: SparkSession, topic: TestTopic) -> None:
    result = deltaworks.load(spark.range(1), topic.sink(topic="not-there"), "Append")

    made = f"kafka-topics.sh --bootstrap-server {topic.server.plain} --create --topic not-there --partitions 3"
    assert made in (result.hint or "")


def test_a_key_for_a_run_means_nothing_here(spark: SparkSession, topic: TestTopic) -> None:
    with pytest.raises(ConfigError, match="carries no marks"):
        deltaworks.run(pipeline(topic, table(spark, {"id": 1})), spark=spark, key="monday")


@pytest.mark.parametrize(
    ("columns", "schema", "said"),
    [
        ("'one' AS id, 'a' AS name", AVRO, 'sqlType = STRING, avroType = "long"'),
        ("map(1, 2) AS pairs", None, "Unexpected type MapType"),
        ("1 AS `a-b`", None, "Illegal character in: a-b"),
    ],
)
def test_columns_that_avro_cannot_hold_are_refused_before_anything_is_sent(
    spark: SparkSession, topic: TestTopic, columns: str, schema: str | None, said: str
) -> None:
    result = deltaworks.load(spark.sql(f"SELECT {columns}"), topic.sink(valueFormat="avro", schema=schema), "Append")

    assert (result.error or "").startswith("load: The rows do not fit Avro: ")
    assert said in (result.error or "")
    assert topic.received(0) == []


# Failures, and rows that are set aside


def test_a_record_that_is_too_large_says_what_to_do(spark: SparkSession, topic: TestTopic) -> None:
    rows = spark.sql("SELECT repeat('x', 2000000) AS text")

    result = deltaworks.load(rows, topic.sink(), "Append")
    larger = deltaworks.load(rows, topic.sink(**{"kafka.max.request.size": 4000000}), "Append")

    assert "a record is too large for Kafka: The message is 20" in (result.error or "")
    assert "raise kafka.max.request.size here and max.message.bytes of the topic" in (result.hint or "")
    assert "larger than the max message size the server will accept" in (larger.error or "")


def test_what_was_sent_before_a_failure_stays_and_the_hint_says_so(spark: SparkSession, topic: TestTopic) -> None:
    rows = spark.range(3, numPartitions=1).selectExpr("if(id = 2, raise_error('boom'), id) AS id")

    result = deltaworks.load(rows, topic.sink(), "Append")

    assert (result.success, "boom" in (result.error or "")) == (False, True)
    assert result.hint == f"What was sent before stays in {topic.name}. Mend the cause and run again."


def test_rows_that_break_a_rule_go_to_the_table_that_the_file_names(spark: SparkSession, topic: TestTopic) -> None:
    path = table(spark, {"id": 1}, {"id": -1}, {"id": 2})
    rule = {"name": "positive", "check": "id > 0", "onFailure": "setAside"}
    file = pipeline(topic, path, asidePath=str(Path.cwd() / "aside")) | {"expect": [rule]}

    load = deltaworks.run(file, spark=spark).load

    assert (load.rows_read, load.rows_inserted, load.rows_set_aside) == (3, 2, 1)
    assert [json.loads(row["row"]) for row in stored(Path.cwd() / "aside")] == [{"id": -1}]
    assert sorted(json.loads(each.value() or b"")["id"] for each in topic.received(2)) == [1, 2]


def test_records_that_cannot_be_read_go_there_too_and_nothing_is_left_of_what_was_kept_meanwhile(
    spark: SparkSession, kafka: KafkaServer, topic: TestTopic, tmp_path: Path
) -> None:
    other = new_topic(kafka, 1)
    topic.send({"id": 1}, b"no JSON", {"id": -2})
    file = {
        "pipelineId": "pass-on",
        "extract": topic.source(schema="id BIGINT", onBadRecord="setAside"),
        "expect": [{"name": "positive", "check": "id > 0", "onFailure": "drop"}],
        "load": other.sink(asidePath=str(tmp_path / "aside")),
        "writeMode": "Append",
    }

    load = deltaworks.run(file, spark=spark).load

    assert (load.rows_inserted, load.rows_dropped, load.rows_set_aside) == (1, 1, 1)
    assert [row["reason"] for row in stored(tmp_path / "aside")] == ["it is not one JSON object"]
    assert len(other.received(1)) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"aside", ".deltaworks"}


def test_a_bad_record_on_its_way_from_topic_to_topic_is_told(
    spark: SparkSession, kafka: KafkaServer, topic: TestTopic
) -> None:
    other = new_topic(kafka, 1)
    topic.send(b"no JSON")
    file = {
        "pipelineId": "pass-on",
        "extract": topic.source(schema="id BIGINT"),
        "load": other.sink(),
        "writeMode": "Append",
    }

    with pytest.raises(RunError, match="offset 0 holds a record that cannot be read: it is not one JSON object"):
        deltaworks.run(file, spark=spark)


def test_pipelines_of_one_topic_are_put_in_order(topic: TestTopic) -> None:
    from deltaworks.pipeline.config import PipelineConfig
    from deltaworks.pipeline.order import ordered

    sends = PipelineConfig.model_validate(pipeline(topic, Path("in")))
    reads = PipelineConfig.model_validate(
        {
            "pipelineId": "read",
            "extract": topic.source(),
            "load": {"sinkType": "DeltaLake", "path": "out"},
            "writeMode": "Append",
        }
    )

    assert ordered([reads, sends]) == [1, 0]
