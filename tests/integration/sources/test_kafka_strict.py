"""Records that cannot be read: told with where they are, or set aside once; never a null in their place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import collected, stored
from tests.integration.sources.test_kafka import AVRO, ONE, TWO, landed, pipeline

import deltaworks
from deltaworks.errors import RunError
from deltaworks.lake.log import Log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.servers.topic import TestTopic

DDL = (
    "id BIGINT, name STRING, n INT, day DATE, price DECIMAL(5,2), by STRUCT<a: INT>, tags ARRAY<INT>, "
    "tiny TINYINT, rate DOUBLE, ratio FLOAT, at TIMESTAMP, more MAP<STRING, INT>, days ARRAY<DATE>, "
    "deep MAP<STRING, STRUCT<at: TIMESTAMP, tiny: TINYINT>>"
)
GOOD = {"id": 1, "name": "a"}
NOT_JSON = "it is not one JSON object"
NO_FIT = "a value does not fit its column"
NO_TEXT = "it is not UTF-8"
BAD = {
    "broken": (b'{"id": 2, "name":', NOT_JSON),
    "no object": (b"[1, 2]", NOT_JSON),
    "a list of objects": (b'[{"id": 2}, {"id": 3}]', NOT_JSON),
    "null": (b"null", NOT_JSON),
    "nothing": (b"", NOT_JSON),
    "spaces": (b"  \n", NOT_JSON),
    "two objects": (b'{"id": 2}{"id": 3}', NOT_JSON),
    "two lines": (b'{"id": 2}\n{"id": 3}', NOT_JSON),
    "a list without brackets": (b'{"id": 2},{"id": 3}', NOT_JSON),
    "more keys behind it": (b'{"id": 2},"name":"b"', NOT_JSON),
    "brackets that close ours": (b'{"id": 2}],"x":[{"id": 3}', NOT_JSON),
    "one brace too many": (b'{"id": 2}}', NOT_JSON),
    "words behind it": (b'{"id": 2} and more', NOT_JSON),
    "a bare key": (b"{id: 2}", NOT_JSON),
    "text for a number": (b'{"id": "two"}', NO_FIT),
    "a number in quotes": (b'{"id": "2"}', NO_FIT),
    "an empty text for a number": (b'{"n": ""}', NO_FIT),
    "too large": (b'{"n": 3000000000}', NO_FIT),
    "a fraction": (b'{"id": 2.5}', NO_FIT),
    "no such day": (b'{"day": "2024-02-30"}', NO_FIT),
    "too many digits": (b'{"price": 12345.6}', NO_FIT),
    "wrong inside a struct": (b'{"by": {"a": "x"}}', NO_FIT),
    "wrong inside a list": (b'{"tags": [1, "x"]}', NO_FIT),
    "a number that would wrap around": (b'{"tiny": 200}', NO_FIT),
    "a number without end": (b'{"rate": 1e400}', NO_FIT),
    "a number without end for a short column": (b'{"ratio": -1e300, "name": "INFO"}', NO_FIT),
    "milliseconds": (b'{"at": 1704067200000}', NO_FIT),
    "microseconds": (b'{"at": 1704067200000000}', NO_FIT),
    "nanoseconds": (b'{"at": 1704067200000000000}', NO_FIT),
    "a time of day": (b'{"at": "12:30"}', NO_FIT),
    "a time of day after a T": (b'{"at": "T12:30:15"}', NO_FIT),
    "a time of day with a zone": (b'{"at": "12:30:00-05:00"}', NO_FIT),
    "a year for a time": (b'{"at": "2024"}', NO_FIT),
    "words behind a time": (b'{"at": "2024-01-01 noon"}', NO_FIT),
    "a date without dashes": (b'{"day": "20240229"}', NO_FIT),
    "a number for a date": (b'{"day": 5}', NO_FIT),
    "a number in quotes for a date": (b'{"day": "5"}', NO_FIT),
    "words behind a date": (b'{"day": "2024-02-29 garbage"}', NO_FIT),
    "words behind a short date": (b'{"day": "2024-2-9 x"}', NO_FIT),
    "no date in a list": (b'{"days": ["2024-02-29", "5"]}', NO_FIT),
    "a key twice": (b'{"more": {"a": 1, "a": 2}}', NO_FIT),
    "a time of day deep inside": (b'{"deep": {"x": {"at": "12:30"}}}', NO_FIT),
    "a number that would wrap around deep inside": (b'{"deep": {"x": {"tiny": -129}}}', NO_FIT),
    "bad UTF-8": (b'{"id": 2, "name": "\xff"}', NO_TEXT),
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def aside(name: str = "out_aside") -> list[dict[str, Any]]:
    return [row | {"row": json.loads(row["row"])} for row in stored(Path.cwd() / name)]


@pytest.mark.parametrize("name", ["broken", "text for a number", "bad UTF-8"])
def test_a_record_that_cannot_be_read_fails_the_run_with_where_it_is_and_its_text(
    spark: SparkSession, topic: TestTopic, name: str
) -> None:
    record, why = BAD[name]
    topic.send(GOOD, record, GOOD, partition=1)

    with pytest.raises(RunError) as caught:
        deltaworks.run(pipeline(topic, schema=DDL), spark=spark)

    said = f"load: topic {topic.name}, partition 1, offset 1 holds a record that cannot be read: {why}"
    assert str(caught.value).startswith(said)
    text = f"0x{record.hex().upper()}" if why == NO_TEXT else record.decode()
    assert str(caught.value).endswith(f": {text}")
    assert ('it would be read as {"id":null,' in str(caught.value)) is (why == NO_FIT)
    assert "onBadRecord: setAside" in caught.value.hint
    assert caught.value.exit_code == 1
    assert Log(str(Path.cwd() / "out")).latest() is None


def test_whatever_is_wrong_with_a_record_it_is_set_aside_and_the_good_ones_land(
    spark: SparkSession, topic: TestTopic
) -> None:
    for record, _ in BAD.values():
        topic.send(GOOD, record, key="k")
    topic.send(None, partition=1)

    result = deltaworks.run(pipeline(topic, schema=DDL, onBadRecord="setAside"), spark=spark)

    load = result.load
    assert (load.rows_inserted, load.rows_set_aside) == (len(BAD), len(BAD) + 1)
    assert load.rows_inserted + (load.rows_set_aside or 0) == 2 * len(BAD) + 1
    assert [(row["id"], row["name"], row["n"]) for row in landed(spark)] == [(1, "a", None)] * len(BAD)
    found = {(row["row"]["partition"], row["row"]["offset"]): row for row in aside()}
    for at, (record, why) in enumerate(BAD.values()):
        row = found.pop((0, 2 * at + 1))
        shown = f"0x{record.hex().upper()}" if why == NO_TEXT else record.decode()
        assert row["reason"].startswith(why)
        assert (row["rule"], row["pipeline"], row["run"]) == ("unreadable", "copy", result.run_id)
        assert (row["row"]["topic"], row["row"]["key"], row["row"].get("value")) == (topic.name, "k", shown)
    ((_, tombstone),) = found.items()
    assert tombstone["reason"].startswith("it has no value")
    assert "value" not in tombstone["row"]


def test_records_that_only_look_odd_are_read(spark: SparkSession, topic: TestTopic) -> None:
    odd = [
        b' {"id": 1}\n',
        b'\t{"id": 1}',
        b'{"by": {"a": 1}, "name": "}"}',
        b'{"id": 1, "name": "{}"}',
        b"{}",
        b'{"n": null}',
        b'{"id": 1, "other": {"x": [1]}}',
        '{"name": "ü}{"}'.encode(),
    ]
    topic.send(*odd)

    assert deltaworks.extract(topic.source(schema=DDL), spark=spark).count() == len(odd)


TIMES = {
    '"2024-01-01T00:00:00Z"': 1704067200,
    '"2024-01-01T00:00:00.5+01:00"': 1704063600.5,
    '"2024-01-01 00:00:00"': 1704067200,
    '"2024-01-01T00:00:00.000001"': 1704067200.000001,
    '"2024-1-1 1:02"': 1704070920,
    '"2024-01-01 00:00:00 Europe/Berlin"': 1704063600,
    '"2024-01-01"': 1704067200,
    '"2024-01"': 1704067200,
    "1704067200": 1704067200,
    "-1": -1,
    "2024": 2024,
}


@pytest.mark.parametrize(("options", "ahead"), [({}, 0), ({"timeZone": "Asia/Tokyo"}, 9)])
def test_times_are_read_as_they_are_usually_spelled_wherever_the_session_is(
    spark: SparkSession, topic: TestTopic, options: dict[str, str], ahead: int
) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    topic.send(*(b'{"at": %s}' % text.encode() for text in TIMES))

    source = topic.source(schema="at TIMESTAMP", metadata="offset") | {"options": options}
    rows = deltaworks.extract(source, spark=session).selectExpr("_offset", "unix_micros(at) AS at").collect()

    found = dict(zip(TIMES, (row["at"] / 1e6 for row in sorted(rows)), strict=True))
    unzoned = {text for text in TIMES if text.startswith('"') and not any(each in text for each in ("Z", "+", "Eur"))}
    assert found == {text: at - ahead * 3600 * (text in unzoned) for text, at in TIMES.items()}


def test_dates_and_numbers_are_read_as_they_are_usually_spelled(spark: SparkSession, topic: TestTopic) -> None:
    topic.send(
        b'{"day": "2024-02-29", "rate": "Infinity", "tiny": -128}',
        b'{"day": "2024-2-9", "rate": -Infinity, "tiny": 127}',
        b'{"day": "2024-02-29T10:00:00.5+01:00", "rate": 1e308, "more": {"a": 1, "b": 2}}',
    )

    shown = "concat_ws(' ', day, rate, tiny, map_keys(more))"
    rows = deltaworks.extract(topic.source(schema=DDL), spark=spark).selectExpr(f"{shown} AS shown").collect()

    assert [row["shown"] for row in rows] == [
        "2024-02-29 Infinity -128",
        "2024-02-09 -Infinity 127",
        "2024-02-29 1.0E308 a b",
    ]


def test_a_format_of_the_file_counts_and_numbers_beyond_it_are_still_told(
    spark: SparkSession, topic: TestTopic
) -> None:
    topic.send({"at": "31.12.2024"}, {"at": 1704067200})
    options = {"options": {"timestampFormat": "dd.MM.yyyy"}}

    rows = deltaworks.extract(topic.source(schema="at TIMESTAMP") | options, spark=spark)

    assert [row["at"].isoformat() for row in rows.collect()] == ["2024-12-31T00:00:00", "2024-01-01T00:00:00"]
    topic.send({"at": 1704067200000000})
    rows = deltaworks.extract(topic.source(schema="at TIMESTAMP") | options, spark=spark)
    with pytest.raises(Exception, match="offset 2 holds a record that cannot be read: a value does not fit"):
        rows.collect()


def test_a_record_that_cannot_be_read_is_told_whichever_columns_are_wanted(
    spark: SparkSession, topic: TestTopic
) -> None:
    topic.send(GOOD, BAD["text for a number"][0])

    rows = deltaworks.extract(topic.source(schema=DDL, metadata="offset"), spark=spark)

    for wanted in (rows, rows.select("name"), rows.select("_offset"), rows.where("id IS NOT NULL")):
        with pytest.raises(Exception, match="offset 1 holds a record that cannot be read"):
            wanted.collect()
        with pytest.raises(Exception, match="offset 1 holds a record that cannot be read"):
            wanted.count()


def test_a_value_is_parsed_once(spark: SparkSession, topic: TestTopic) -> None:
    topic.send(GOOD)
    rows = deltaworks.extract(topic.source(schema=DDL), spark=spark).where("id > 0").select("id", "name")

    plan = rows._jdf.queryExecution().optimizedPlan().toString()

    assert plan.count("StructField(__deltaworks_bad_record,StringType,true)") == 1


# Keys, tombstones, text


def test_a_key_that_is_no_text_is_told_where_it_is_wanted(spark: SparkSession, topic: TestTopic) -> None:
    topic.send(GOOD, key=b"\xff")

    assert deltaworks.extract(topic.source(schema=DDL), spark=spark).count() == 1
    with pytest.raises(Exception, match="its key is not UTF-8"):
        deltaworks.extract(topic.source(schema=DDL, metadata="key"), spark=spark).collect()


@pytest.mark.parametrize("said", [{"schema": DDL}, {"valueFormat": "avro", "schema": AVRO}], ids=["json", "avro"])
def test_a_record_without_a_value_fails_the_run_or_is_skipped(
    spark: SparkSession, topic: TestTopic, said: dict[str, Any]
) -> None:
    topic.send(GOOD if said.get("valueFormat") is None else ONE, None)

    with pytest.raises(RunError, match="offset 1 holds a record that cannot be read: it has no value"):
        deltaworks.run(pipeline(topic, **said), spark=spark)
    result = deltaworks.run(pipeline(topic, onTombstone="skip", **said), spark=spark)

    assert result.load.rows_inserted == 1
    assert landed(spark)[0]["id"] == 1


def test_text_that_is_no_utf8_is_told_or_set_aside(spark: SparkSession, topic: TestTopic) -> None:
    topic.send(b"a", b"\xff", None)

    with pytest.raises(RunError, match="it is not UTF-8: 0xFF"):
        deltaworks.run(pipeline(topic, valueFormat="string"), spark=spark)
    deltaworks.run(pipeline(topic, valueFormat="string", onBadRecord="setAside"), spark=spark)

    assert landed(spark) == [{"value": "a"}, {"value": None}]
    assert [row["row"]["value"] for row in aside()] == ["0xFF"]


# Avro

CUT, LONG, OTHER = ONE[:-1], ONE + b"\x00", b"no Avro"


@pytest.mark.parametrize("record", [CUT, LONG, OTHER, ONE + TWO, b""], ids=["cut", "long", "other", "two", "empty"])
def test_what_is_no_avro_of_the_schema_fails_the_run(spark: SparkSession, topic: TestTopic, record: bytes) -> None:
    topic.send(ONE, record, TWO)

    with pytest.raises(RunError) as caught:
        deltaworks.run(pipeline(topic, valueFormat="avro", schema=AVRO), spark=spark)

    assert "offset 1 holds a record that cannot be read: it is not Avro of this schema: 0x" in str(caught.value)


def test_what_is_no_avro_of_the_schema_is_set_aside(spark: SparkSession, topic: TestTopic) -> None:
    records = [b"\x00\x00\x00\x00\x07" + value for value in (ONE, CUT, TWO)]
    topic.send(*records, ONE, b"\x00\x00")

    said = {"valueFormat": "avro", "schema": AVRO, "confluentHeader": "true", "onBadRecord": "setAside"}
    result = deltaworks.run(pipeline(topic, **said), spark=spark)

    assert (result.load.rows_inserted, result.load.rows_set_aside) == (2, 3)
    assert [row["id"] for row in landed(spark)] == [1, 2]
    assert {row["row"]["offset"]: row["reason"] for row in aside()} == {
        1: "it is not Avro of this schema",
        3: "it has no header of five bytes",
        4: "it has no header of five bytes",
    }


CLAIMS = {
    "text": ("string", b"\xe0\xff\xff\xff\x0f"),  # 0x7ffffff0 as Avro counts
    "bytes": ("bytes", b"\xe0\xff\xff\xff\x0f"),
    "items": ({"type": "array", "items": "string"}, b"\xe0\xff\xff\xff\x0f"),
    "keys": ({"type": "map", "values": "string"}, b"\xe0\xff\xff\xff\x0f"),
    "less than none": ("string", b"\x01"),
}


@pytest.mark.parametrize(("kind", "claim"), CLAIMS.values(), ids=CLAIMS)
def test_a_record_that_claims_to_be_longer_than_memory_is_set_aside_and_the_session_lives(
    spark: SparkSession, topic: TestTopic, kind: Any, claim: bytes
) -> None:
    schema = json.dumps({"type": "record", "name": "r", "fields": [{"name": "v", "type": kind}]})
    topic.send(claim + b"abc", b"\x00")

    load = deltaworks.run(pipeline(topic, valueFormat="avro", schema=schema, onBadRecord="setAside"), spark=spark).load

    assert (load.rows_inserted, load.rows_set_aside) == (1, 1)
    assert [row["reason"] for row in aside()] == ["it is not Avro of this schema"]


def test_a_schema_that_is_no_avro_inside_is_refused(spark: SparkSession, topic: TestTopic) -> None:
    schema = AVRO.replace('"long"', '"lnog"')

    with pytest.raises(deltaworks.errors.ConfigError, match=r"The Avro schema cannot be used: .*lnog"):
        deltaworks.extract(topic.source(valueFormat="avro", schema=schema), spark=spark)


# Once


def broken_off(step: str, file: dict[str, Any], spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run with a key, and fail at a step."""
    with monkeypatch.context() as armed:
        armed.setenv("DELTAWORKS_FAILPOINTS", f"{step}=raise")
        with pytest.raises(Exception, match=step):
            deltaworks.run(file, spark=spark, key="monday")


def test_records_are_set_aside_once_even_when_a_run_with_a_key_is_replayed(
    spark: SparkSession, topic: TestTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic.send(GOOD, BAD["broken"][0], GOOD, BAD["no such day"][0])
    file = pipeline(topic, schema=DDL, onBadRecord="setAside")
    broken_off("after_aside", file, spark, monkeypatch)
    assert len(aside()) == 2

    replayed = deltaworks.run(file, spark=spark, key="monday")
    again = deltaworks.run(file, spark=spark, key="monday")

    assert (replayed.load.rows_inserted, replayed.load.rows_set_aside) == (2, 2)
    assert again.load.already_landed
    assert len(aside()) == 2
    assert len(landed(spark)) == 2


def test_a_replay_that_reads_more_sets_aside_what_is_new_and_nothing_twice(
    spark: SparkSession, topic: TestTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = pipeline(topic, schema=DDL, onBadRecord="setAside")
    topic.send(GOOD, BAD["broken"][0])
    broken_off("after_aside", file, spark, monkeypatch)
    topic.send(GOOD, BAD["broken"][0])
    replayed = deltaworks.run(file, spark=spark, key="monday")

    assert len(landed(spark)) == 2
    assert {row["run"] for row in aside()} == {replayed.run_id}
    assert len(aside()) == 2
    deltaworks.run(file, spark=spark, key="monday", again=True)
    assert len(aside()) == 4  # a second landing, on purpose, has its own


def test_what_a_killed_run_left_aside_is_removed_by_whoever_finds_the_key_landed(
    spark: SparkSession, topic: TestTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = pipeline(topic, schema=DDL, onBadRecord="setAside")
    topic.send(GOOD, BAD["broken"][0])
    for step in ("after_aside", "after_landing"):
        broken_off(step, file, spark, monkeypatch)
    assert len(aside()) == 2
    found = deltaworks.run(file, spark=spark, key="monday").load

    assert found.already_landed
    assert [row["run"] for row in aside()] == [found.landed_by]


def test_rows_that_break_a_rule_go_aside_with_the_records_that_cannot_be_read(
    spark: SparkSession, topic: TestTopic
) -> None:
    topic.send(GOOD, BAD["broken"][0], {"id": -1}, {"id": 2})
    rule = {"name": "positive", "check": "id > 0", "onFailure": "setAside"}
    file = pipeline(topic, "Upsert", {"mergeKeys": ["id"]}, schema=DDL, onBadRecord="setAside") | {"expect": [rule]}

    load = deltaworks.run(file, spark=spark).load

    assert (load.rows_inserted, load.rows_set_aside) == (2, 2)
    assert sorted(row["rule"] for row in aside()) == ["positive", "unreadable"]
    assert [row["id"] for row in landed(spark)] == [1, 2]


def test_rows_alone_have_no_place_aside(spark: SparkSession, topic: TestTopic) -> None:
    topic.send(GOOD, BAD["broken"][0])
    source = topic.source(schema=DDL, onBadRecord="setAside")

    with pytest.raises(deltaworks.errors.ConfigError, match="Rows alone have no place aside"):
        collected(deltaworks.extract(source, spark=spark))


def test_an_input_cannot_set_records_aside(topic: TestTopic) -> None:
    file = pipeline(topic, schema=DDL) | {"inputs": {"other": topic.source(schema=DDL, onBadRecord="setAside")}}

    with pytest.raises(deltaworks.errors.ConfigError, match="An input cannot set records aside"):
        deltaworks.run(file)
