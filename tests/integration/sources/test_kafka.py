"""What is read of a topic: values, what stands beside them, and from where to where."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import both, collected
from tests.servers.topic import new_topic

import deltaworks
from deltaworks.errors import ConfigError
from deltaworks.pipeline.around import Around
from deltaworks.pipeline.checking import checked
from deltaworks.pipeline.config import ExtractPart
from deltaworks.pipeline.document import Document

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.servers.kafka import KafkaServer
    from tests.servers.topic import TestTopic

    from deltaworks.runs.result import RunResult
    from deltaworks.spark.sources import Source

DDL = "id BIGINT, name STRING"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(spark: SparkSession, topic: TestTopic, /, **params: Any) -> list[dict[str, Any]]:
    return collected(deltaworks.extract(topic.source(**params), spark=spark))


def pipeline(topic: TestTopic, mode: str = "Append", load: Any = None, /, **params: Any) -> dict[str, Any]:
    return {
        "pipelineId": "copy",
        "extract": topic.source(**params),
        "load": {"sinkType": "DeltaLake", "connectionParams": {"path": "out", **(load or {})}},
        "writeMode": mode,
    }


def planned(result: RunResult) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(result.record) / "manifest.json").read_text())["plan"]
    return found


def landed(spark: SparkSession, name: str = "out") -> list[dict[str, Any]]:
    return both(spark, Path.cwd() / name)


def located(topic: TestTopic, /, **params: Any) -> Source:
    part = checked(ExtractPart, Document({"extract": topic.source(**params)}))
    return part.extract.located(Around(session=lambda: pytest.fail("no session"), vault=deltaworks.MemoryVault({})))


# Values


def test_json_values_become_columns_of_their_types(spark: SparkSession, topic: TestTopic) -> None:
    topic.send(
        b'{"id": 9007199254740993, "price": 12.50, "rate": 0.1, "paid": true, "day": "2024-02-29", '
        b'"at": "2024-01-01T01:02:03.123456+01:00", "local": "2024-01-01T01:02:03", "unknown": 1, '
        b'"tags": ["a", null], "by": {"name": "\xc3\xbc\\n"}, "more": {"x": 1}, "raw": "AAE=", "none": null}\n'
    )
    ddl = (
        "id BIGINT, price DECIMAL(5,2), rate DOUBLE, paid BOOLEAN, day DATE, at TIMESTAMP, local TIMESTAMP, "
        "tags ARRAY<STRING>, by STRUCT<name: STRING>, more MAP<STRING, INT>, raw BINARY, none STRING, absent INT"
    )

    table = deltaworks.extract(topic.source(schema=ddl), spark=spark).toArrow()

    assert table.to_pylist() == [
        {
            "id": 9007199254740993,
            "price": Decimal("12.50"),
            "rate": 0.1,
            "paid": True,
            "day": datetime(2024, 2, 29).date(),
            "at": datetime(2024, 1, 1, 0, 2, 3, 123456, tzinfo=UTC),
            "local": datetime(2024, 1, 1, 1, 2, 3, tzinfo=UTC),
            "tags": ["a", None],
            "by": {"name": "ü\n"},
            "more": [("x", 1)],
            "raw": b"\x00\x01",
            "none": None,
            "absent": None,
        }
    ]


def test_a_time_without_a_zone_is_utc_wherever_the_session_is(spark: SparkSession, topic: TestTopic) -> None:
    topic.send({"at": "2024-01-01T00:00:00"})
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")

    rows = deltaworks.extract(topic.source(schema="at TIMESTAMP"), spark=session)

    assert rows.selectExpr("unix_seconds(at) AS at").collect()[0]["at"] == 1704067200


def test_options_of_sparks_for_json_count(spark: SparkSession, topic: TestTopic) -> None:
    topic.send(b'{"by": {"day": "31.12.2024"}} // a comment')
    options = {"dateFormat": "dd.MM.yyyy", "allowComments": True}
    source = topic.source(schema="by STRUCT<day: DATE>") | {"options": options}

    assert collected(deltaworks.extract(source, spark=spark))[0]["by"]["day"].isoformat() == "2024-12-31"


def test_text_is_one_column(spark: SparkSession, topic: TestTopic) -> None:
    topic.send("ü, 'x'\n".encode(), b"", None)

    assert read(spark, topic, valueFormat="string") == [{"value": "ü, 'x'\n"}, {"value": ""}, {"value": None}]


def test_bytes_are_one_column_and_their_keys_are_bytes_too(spark: SparkSession, topic: TestTopic) -> None:
    topic.send(b"\xff\x00", None, key=b"\xfe")

    found = read(spark, topic, valueFormat="binary", metadata="key")

    assert found == [{"value": None, "_key": b"\xfe"}, {"value": b"\xff\x00", "_key": b"\xfe"}]


AVRO = json.dumps(
    {
        "type": "record",
        "name": "order",
        "namespace": "shop",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "name", "type": ["null", "string"]},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        ],
    }
)
# Zigzag numbers, a branch of the union, a length and letters, microseconds.
ONE = b"\x02" + b"\x02\x04\xc3\xbc" + b"\x06"
TWO = b"\x04" + b"\x00" + b"\x00"
ORDERS = [
    {"id": 1, "name": "ü", "at": datetime(1970, 1, 1, 0, 0, 0, 3)},
    {"id": 2, "name": None, "at": datetime(1970, 1, 1)},
]


@pytest.mark.parametrize("header", [False, True])
def test_avro_values_have_the_columns_of_their_schema(
    spark: SparkSession, topic: TestTopic, tmp_path: Path, header: bool
) -> None:
    (tmp_path / "order.avsc").write_text(AVRO)
    topic.send(*((b"\x00\x00\x00\x00\x07" if header else b"") + value for value in (ONE, TWO)))

    for said in ({"schema": AVRO}, {"schemaName": str(tmp_path / "order.avsc")}):
        assert read(spark, topic, valueFormat="avro", confluentHeader=header, **said) == ORDERS


MANY = json.dumps(
    {
        "type": "record",
        "name": "many",
        "fields": [
            {"name": "either", "type": ["null", "int", "string"]},
            {"name": "number", "type": ["int", "long"]},
            {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}},
            {"name": "size", "type": {"type": "enum", "name": "size", "symbols": ["small", "large"]}},
            {"name": "day", "type": {"type": "int", "logicalType": "date"}},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
            {"name": "uuid", "type": {"type": "string", "logicalType": "uuid"}},
            {"name": "tags", "type": {"type": "array", "items": "string"}},
        ],
    }
)
# Each with its branch, length or count before it.
FIRST = (
    b"\x02\x0a" + b"\x00\x06" + b"\x04\xff\x92" + b"\x02" + b"\x02" + b"\x02" + b"\x02" + b"\x02u" + b"\x02\x02a\x00"
)
SECOND = b"\x04\x02x" + b"\x02\x08" + b"\x02\x6e" + b"\x00" + b"\x00" + b"\x00" + b"\x00" + b"\x00" + b"\x00"
THIRD = b"\x00" + SECOND[3:]


def test_avro_unions_decimals_enums_and_dates_have_their_values(spark: SparkSession, topic: TestTopic) -> None:
    topic.send(FIRST, SECOND, THIRD)

    found = read(spark, topic, valueFormat="avro", schema=MANY, metadata="offset")

    first, second, third = sorted(found, key=lambda row: row["_offset"])
    assert first == {
        "either": (5, None),
        "number": 3,
        "price": Decimal("-1.10"),
        "size": "large",
        "day": datetime(1970, 1, 2).date(),
        "at": datetime(1970, 1, 1, 0, 0, 0, 1000),
        "local": datetime(1970, 1, 1, 0, 0, 0, 1),
        "uuid": "u",
        "tags": ["a"],
        "_offset": 0,
    }
    assert second["either"] == (None, "x")
    assert (second["number"], second["price"], second["size"], second["tags"]) == (4, Decimal("1.10"), "small", [])
    assert third["either"] is None


# What stands beside a value


def test_all_that_a_record_has_can_become_columns(spark: SparkSession, topic: TestTopic) -> None:
    topic.send({"id": 1}, {"id": 2}, partition=1, key="k1", at=1704067200123, headers=[("a", b"\x01"), ("b", None)])

    (first, second) = read(
        spark,
        topic,
        schema="id BIGINT",
        metadata=["key", "headers", "topic", "partition", "offset", "timestamp", "timestampType"],
    )

    assert list(first) == ["id", "_key", "_headers", "_topic", "_partition", "_offset", "_timestamp", "_timestampType"]
    assert (first["_key"], first["_topic"], first["_partition"]) == ("k1", topic.name, 1)
    assert (first["_offset"], second["_offset"]) == (0, 1)
    assert first["_timestamp"] == datetime(2024, 1, 1, 0, 0, 0, 123000)
    assert first["_timestampType"] == 0
    assert [tuple(header) for header in first["_headers"]] == [("a", b"\x01"), ("b", None)]


def test_metadata_that_would_take_the_name_of_a_column_is_refused(spark: SparkSession, topic: TestTopic) -> None:
    topic.send({"id": 1, "_offset": 2})

    with pytest.raises(ConfigError, match="The values have a column '_offset'"):
        read(spark, topic, metadata="offset")


# Which topics


def test_several_topics_are_one_set_of_rows(spark: SparkSession, kafka: KafkaServer, topic: TestTopic) -> None:
    other = new_topic(kafka, 1)
    topic.send({"id": 1}, partition=1)
    other.send({"id": 2, "name": "x"})

    found = read(spark, topic, topic=None, topics=[topic.name, other.name], metadata="topic")

    assert found == [
        {"id": 1, "name": None, "_topic": topic.name},
        {"id": 2, "name": "x", "_topic": other.name},
    ]


def test_a_pattern_means_all_topics_whose_whole_name_it_matches(spark: SparkSession, kafka: KafkaServer) -> None:
    stem = f"pattern-{time.time_ns()}"
    topics = [new_topic(kafka, 1, f"{stem}{end}") for end in (".a", ".b", ".ab")]
    for number, each in enumerate(topics):
        each.send({"id": number})

    assert read(spark, topics[0], topic=None, topicPattern=rf"{stem}\.[ab]") == [{"id": 0}, {"id": 1}]


def test_a_topic_that_is_not_there_is_refused_before_spark_starts(kafka: KafkaServer, topic: TestTopic) -> None:
    for said in ({"topic": topic.name[:-1]}, {"topic": None, "topics": [topic.name, topic.name[:-1]]}):
        with pytest.raises(ConfigError, match=f"There is no topic '{topic.name[:-1]}' at {kafka.plain}") as caught:
            located(topic, **said).fixed()
        assert topic.name in caught.value.hint
        assert caught.value.exit_code == 2
    with pytest.raises(ConfigError, match=r"No topic at .* matches 'nothing-.*'"):
        located(topic, topic=None, topicPattern="nothing-.*").fixed()


# From where to where


def test_offsets_say_where_to_begin_and_to_end(spark: SparkSession, topic: TestTopic) -> None:
    topic.send(*({"id": number} for number in range(5)))
    topic.send({"id": 10}, {"id": 11}, partition=1)
    starts, ends = {topic.name: {"0": 1, "1": -2}}, {topic.name: {"0": 3, "1": -1}}

    for said in (
        {"startingOffsets": starts, "endingOffsets": ends},
        {"startingOffsets": json.dumps(starts), "endingOffsets": json.dumps(ends)},
    ):
        assert sorted(row["id"] for row in read(spark, topic, schema="id BIGINT", **said)) == [1, 2, 10, 11]


def test_reading_from_the_latest_offsets_reads_nothing(spark: SparkSession, topic: TestTopic) -> None:
    topic.send({"id": 1})

    assert read(spark, topic, schema=DDL, startingOffsets="latest") == []


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"startingOffsets": {"0": 1, "1": 0}}, "startingOffsets of .* 0 is 1, but the offsets there are 2 up to 3"),
        ({"startingOffsets": {"0": 4, "1": 0}}, "startingOffsets of .* 0 is 4, but the offsets there are 2 up to 3"),
        ({"endingOffsets": {"0": 9, "1": 0}}, "endingOffsets of .* 0 is 9, but the offsets there are 2 up to 3"),
        ({"startingOffsets": {"0": 3}}, "startingOffsets does not name .* 1"),
        ({"startingOffsets": {"0": 3, "1": 0, "2": 0}}, "startingOffsets names .* 2, which is not there"),
        (
            {"startingOffsets": {"0": -1, "1": 0}, "endingOffsets": {"0": 2, "1": 0}},
            "begin at offset 3 and end at 2",
        ),
    ],
)
def test_offsets_that_are_not_there_are_refused_with_those_that_are(
    topic: TestTopic, said: dict[str, Any], wrong: str
) -> None:
    topic.send({"id": 1}, {"id": 2}, {"id": 3})
    topic.forget(before=2)

    with pytest.raises(ConfigError, match=wrong):
        located(topic, schema=DDL, **{key: {topic.name: value} for key, value in said.items()}).fixed()


def test_times_say_where_to_begin_and_to_end(spark: SparkSession, topic: TestTopic) -> None:
    start = 1704067200000  # 2024-01-01
    for hour in range(4):
        topic.send({"id": hour}, partition=hour % 2, at=start + hour * 3_600_000)

    def between(first: str | None, last: str | None) -> list[int]:
        params = {"startingTimestamp": first, "endingTimestamp": last}
        return [row["id"] for row in read(spark, topic, schema="id BIGINT", **params)]

    assert between("2024-01-01 01:00", "2024-01-01 03:00") == [1, 2]
    assert between("2024-01-01T03:00:00.000001+02:00", None) == [2, 3]
    assert between(None, "2024-01-01 00:00") == []
    assert between("2025-01-01", None) == []


def test_a_time_goes_with_an_offset_on_the_other_side(spark: SparkSession, topic: TestTopic) -> None:
    topic.send(*({"id": number} for number in range(3)), at=1704067200000)
    late = {"schema": "id BIGINT", "startingTimestamp": "2030-01-01", "endingOffsets": {topic.name: {"0": 1, "1": 0}}}
    early = {"schema": "id BIGINT", "startingOffsets": {topic.name: {"0": 1, "1": 0}}, "endingTimestamp": "2020-01-01"}

    assert read(spark, topic, **late) == read(spark, topic, **early) == []


def test_where_reading_ends_is_fixed_before_the_first_record(spark: SparkSession, topic: TestTopic) -> None:
    topic.send({"id": 1, "name": "a"})
    source = located(topic, schema=DDL)
    span = source.fixed()
    rows = source.read(spark, span)
    topic.send({"id": 2, "name": "b"})

    assert rows.count() == 1
    topic.send({"id": 3, "name": "c"})
    assert rows.count() == 1
    assert source.describe(span) == (
        f"Kafka topic {topic.name}: partition 0 from offset 0 up to 1 at {topic.server.plain}; "
        "json values with the schema of the file"
    )


def test_a_compacted_topic_is_read_over_the_gaps_in_its_offsets(spark: SparkSession, kafka: KafkaServer) -> None:
    settings = {"cleanup.policy": "compact", "segment.ms": "50", "min.cleanable.dirty.ratio": "0.01"}
    topic = new_topic(kafka, 1, **settings)
    for number in range(6):
        topic.send({"id": number % 2, "n": number}, key=str(number % 2))
        time.sleep(0.06)  # the next one begins a new segment, and only what is behind that is compacted
    until, compacted = time.monotonic() + 30, [3, 4, 5]  # the last of both keys, and the segment that is written to
    while (offsets := there(topic)) != compacted and time.monotonic() < until:
        time.sleep(0.2)
    assert offsets == compacted, "the broker has not compacted"

    found = read(spark, topic, metadata="offset")

    assert sorted(row["_offset"] for row in found) == compacted
    deltaworks.run(pipeline(topic, "Upsert", {"mergeKeys": "id"}), spark=spark)
    assert landed(spark) == [{"id": 0, "n": 4}, {"id": 1, "n": 5}]
    part = {"startingOffsets": {topic.name: {"0": 1}}, "endingOffsets": {topic.name: {"0": 5}}}
    assert len(read(spark, topic, schema="id INT", **part)) == 2


def there(topic: TestTopic) -> list[int]:
    """The offsets that have a record, by Kafka's own client."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({**topic.settings, "group.id": "there", "enable.partition.eof": True})
    consumer.assign([TopicPartition(topic.name, 0, 0)])
    try:
        found = []
        while (message := consumer.poll(10)) is not None and message.error() is None:
            found.append(message.offset() or 0)
        return found
    finally:
        consumer.close()


def test_a_topic_without_records_is_a_load_of_none(spark: SparkSession, topic: TestTopic) -> None:
    result = deltaworks.run(pipeline(topic, schema=DDL), spark=spark)

    assert (result.load.rows_read, result.load.rows_inserted) == (0, 0)
    assert planned(result)["reads"].startswith(f"Kafka topic {topic.name}: no records at ")
    assert landed(spark) == []


def test_a_partition_can_be_read_by_several_tasks(spark: SparkSession, topic: TestTopic) -> None:
    topic.send(*({"id": number} for number in range(100)))

    rows = deltaworks.extract(topic.source(schema="id BIGINT", minPartitions=4), spark=spark)

    assert rows.rdd.getNumPartitions() == 4
    assert sorted(row["id"] for row in rows.collect()) == list(range(100))


# Into a table


def test_an_upsert_keeps_the_newest_record_of_a_key_by_offset(spark: SparkSession, topic: TestTopic) -> None:
    topic.send({"id": 1, "n": 9}, {"id": 2, "n": 1}, {"id": 1, "n": 5})
    load = {"mergeKeys": ["id"]}

    first = deltaworks.run(pipeline(topic, "Upsert", load), spark=spark)
    topic.send({"id": 2, "n": 7}, {"id": 3, "n": 3}, {"id": 2, "n": 4})
    second = deltaworks.run(pipeline(topic, "Upsert", load), spark=spark)

    assert (first.load.rows_inserted, first.load.rows_superseded) == (2, 1)
    assert (second.load.rows_inserted, second.load.rows_updated, second.load.rows_superseded) == (1, 2, 3)
    assert landed(spark) == [{"id": 1, "n": 5}, {"id": 2, "n": 4}, {"id": 3, "n": 3}]


def test_the_file_may_say_otherwise_what_the_newest_is(spark: SparkSession, topic: TestTopic) -> None:
    topic.send({"id": 1, "n": 9}, {"id": 1, "n": 5})
    load = {"mergeKeys": ["id"], "onDuplicateKeys": "keepNewest", "orderBy": ["n"]}

    deltaworks.run(pipeline(topic, "Upsert", load), spark=spark)

    assert landed(spark) == [{"id": 1, "n": 9}]
    with pytest.raises(deltaworks.errors.RunError, match="1 key is there more than once"):
        deltaworks.run(pipeline(topic, "Upsert", {"mergeKeys": ["id"], "onDuplicateKeys": "fail"}), spark=spark)


def test_rows_that_one_record_became_are_not_newer_than_each_other(spark: SparkSession, topic: TestTopic) -> None:
    topic.send({"id": 1, "items": [1, 2]}, {"id": 1, "items": [3]}, partition=0)
    explode = {"type": "explode", "parameters": {"column": "items"}}

    def upserted(*keys: str) -> list[dict[str, Any]]:
        file = pipeline(topic, "Upsert", {"mergeKeys": list(keys)}, schema="id INT, items ARRAY<INT>")
        deltaworks.run(file | {"transform": [explode]}, spark=spark)
        return landed(spark)

    with pytest.raises(deltaworks.errors.RunError, match=r'several rows with the same key of one: {"id":1} 2 times'):
        upserted("id")
    assert [row["items"] for row in upserted("id", "items")] == [1, 2, 3]


def test_the_newest_is_known_behind_transforms_too(spark: SparkSession, topic: TestTopic) -> None:
    topic.send({"id": 1, "n": 9}, {"id": 1, "n": 5}, {"id": 1, "n": -1})
    steps = [
        {"type": "filter", "parameters": {"condition": "n > 0"}},
        {"type": "select", "parameters": {"columns": ["id", "n"]}},
    ]

    deltaworks.run(pipeline(topic, "Upsert", {"mergeKeys": ["id"]}) | {"transform": steps}, spark=spark)

    assert landed(spark) == [{"id": 1, "n": 5}]


def test_across_partitions_and_topics_the_largest_offset_counts_then_the_time(
    spark: SparkSession, kafka: KafkaServer, topic: TestTopic
) -> None:
    other = new_topic(kafka, 1)
    early, late = 1704067200000, 1704067260000
    topic.send({"id": 0}, {"id": 1, "n": "offset 1"}, at=early)
    topic.send({"id": 1, "n": "offset 0, later"}, {"id": 2, "n": "later"}, partition=1, at=late)
    other.send({"id": 3, "n": "other, early"}, {"id": 2, "n": "early"}, at=early)
    topic.send({"id": 9}, {"id": 3, "n": "offset 3"}, partition=1, at=early)
    said = {"topic": None, "topics": [topic.name, other.name], "schema": "id INT, n STRING"}

    load = deltaworks.run(pipeline(topic, "Upsert", {"mergeKeys": ["id"]}, **said), spark=spark).load

    found = {row["id"]: row["n"] for row in landed(spark)}
    assert found == {0: None, 1: "offset 1", 2: "later", 3: "offset 3", 9: None}
    assert load.rows_superseded == 3


def doubled(rows: Any) -> Any:
    """A transform of a user's, who looks at the columns."""
    assert rows.columns == ["id", "n"]
    return rows.selectExpr("id", "2 * n AS n")


ANY_ORDER: dict[str, list[dict[str, Any]]] = {
    "union all": [
        {"type": "sql", "parameters": {"query": "SELECT * FROM input UNION ALL SELECT * FROM more", "inputs": ["more"]}}
    ],
    "distinct": [{"type": "sql", "parameters": {"query": "SELECT DISTINCT * FROM input"}}],
    "union": [{"type": "union", "parameters": {"inputs": ["more"], "distinct": True}}],
    "python": [{"type": "python", "parameters": {"function": f"{__name__}:doubled"}}],
    "all columns": [{"type": "withColumn", "parameters": {"name": "all", "expression": "to_json(struct(*))"}}],
}


@pytest.mark.parametrize("steps", ANY_ORDER.values(), ids=ANY_ORDER)
def test_what_may_do_anything_with_rows_sees_no_column_of_ours_and_the_newest_is_not_known_after_it(
    spark: SparkSession, topic: TestTopic, kafka: KafkaServer, steps: list[dict[str, Any]]
) -> None:
    more = new_topic(kafka, 1)
    topic.send({"id": 1, "n": 9})
    file = pipeline(topic, "Upsert", {"mergeKeys": ["id"]}, schema="id BIGINT, n INT")
    file |= {"transform": steps, "inputs": {"more": more.source(schema="id BIGINT, n INT")}}

    deltaworks.run(file, spark=spark)

    (row,) = landed(spark)
    assert row["id"] == 1
    assert row.get("all", '{"id":1,"n":9}') == '{"id":1,"n":9}'
    topic.send({"id": 1, "n": 5})
    with pytest.raises(deltaworks.errors.RunError, match=r"1 key is there more than once: .* 2 times"):
        deltaworks.run(file, spark=spark)


@pytest.mark.parametrize("columns", [["*"], ["* EXCEPT (n)", "n"], ["*", "count(*) OVER (PARTITION BY id) AS times"]])
def test_choosing_all_columns_keeps_the_order(spark: SparkSession, topic: TestTopic, columns: list[str]) -> None:
    topic.send({"id": 1, "n": 9}, {"id": 1, "n": 5})
    select = {"type": "select", "parameters": {"columns": columns}}

    deltaworks.run(pipeline(topic, "Upsert", {"mergeKeys": ["id"]}) | {"transform": [select]}, spark=spark)

    assert [(row["id"], row["n"]) for row in landed(spark)] == [(1, 5)]


def test_a_rule_that_is_broken_shows_the_rows_as_they_are(spark: SparkSession, topic: TestTopic) -> None:
    topic.send({"id": -1})
    rule = {"name": "positive", "check": "id > 0"}
    file = pipeline(topic, "Upsert", {"mergeKeys": ["id"]}, schema="id BIGINT") | {"expect": [rule]}

    with pytest.raises(deltaworks.errors.RunError, match=r'such as {"id":-1}\.$'):
        deltaworks.run(file, spark=spark)


def test_a_topic_lands_in_a_table_row_by_row(spark: SparkSession, topic: TestTopic) -> None:
    for partition in (0, 1):
        topic.send(*({"id": number, "part": partition} for number in range(50)), partition=partition)

    result = deltaworks.run(pipeline(topic, metadata=["partition", "offset"]), spark=spark)

    assert (result.load.rows_read, result.load.rows_inserted) == (100, 100)
    expected = [
        {"id": number, "part": part, "_partition": part, "_offset": number} for part in (0, 1) for number in range(50)
    ]
    assert landed(spark) == sorted(expected, key=str)
