"""Where the columns of JSON come from: the file, the target table, or a sample; the plan and the record say which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.reading import made
from tests.integration.sources.test_kafka import landed, pipeline, planned, read

import deltaworks
from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.servers.topic import TestTopic


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_file_gives_them(spark: SparkSession, topic: TestTopic, tmp_path: Path) -> None:
    topic.send({"id": 1, "name": "a", "more": 2})
    (tmp_path / "order.ddl").write_text("name STRING, id INT")

    result = deltaworks.run(pipeline(topic, schemaName=str(tmp_path / "order.ddl")), spark=spark)

    assert planned(result)["reads"].endswith("; json values with the schema of the file")
    assert landed(spark) == [{"name": "a", "id": 1}]


def test_a_sample_of_both_ends_of_every_partition_tells_them(spark: SparkSession, topic: TestTopic) -> None:
    topic.send({"id": 1}, *({"n": 1} for _ in range(600)), {"at_the_end": 1.5})
    topic.send({"nested": {"x": [1, 2.5]}, "none": None}, partition=1)

    result = deltaworks.run(pipeline(topic), spark=spark)

    columns = {each["name"]: each["type"] for each in planned(result)["write"]["columns"]}
    assert planned(result)["reads"].endswith("; json values with the columns of 501 sampled records")
    assert columns == {
        "at_the_end": "double",
        "id": "bigint",
        "n": "bigint",
        "nested": "struct<x: array<double>>",
        "none": "string",
    }
    assert result.load.rows_inserted == 603


def test_the_target_table_tells_them_with_their_types(spark: SparkSession, topic: TestTopic, tmp_path: Path) -> None:
    made(spark, tmp_path / "out", "id INT, price DECIMAL(9,2), at TIMESTAMP, Tags MAP<STRING, INT>, rare STRING")
    topic.send({"id": 1, "price": 1.1, "at": "2024-01-01T00:00:00Z", "tags": {"x": 1}})

    result = deltaworks.run(pipeline(topic), spark=spark)

    assert planned(result)["reads"].endswith(
        "; json values with the columns of the target table, and what is new in 1 sampled record"
    )
    found = (
        spark.read.format("delta")
        .load(str(tmp_path / "out"))
        .selectExpr("id", "price", "unix_seconds(at)", "Tags['x']", "rare")
    )
    assert [tuple(map(str, row)) for row in found.collect()] == [("1", "1.10", "1704067200", "1", "None")]


def test_a_table_without_new_records_is_left_alone(spark: SparkSession, topic: TestTopic, tmp_path: Path) -> None:
    made(spark, tmp_path / "out", "id INT")

    assert deltaworks.run(pipeline(topic), spark=spark).load.rows_inserted == 0


def test_a_new_field_is_added_where_the_table_may_grow_and_refused_where_not(
    spark: SparkSession, topic: TestTopic, tmp_path: Path
) -> None:
    made(spark, tmp_path / "out", "id INT, name STRING")
    topic.send({"id": 1, "name": "a"}, {"id": 2, "name": "b", "since": 2024})

    with pytest.raises(ConfigError, match="has no column 'since'"):
        deltaworks.run(pipeline(topic), spark=spark)
    assert landed(spark) == []
    deltaworks.run(pipeline(topic, "Upsert", {"mergeKeys": "id", "mergeSchema": "true"}), spark=spark)

    assert landed(spark) == [{"id": 1, "name": "a", "since": None}, {"id": 2, "name": "b", "since": 2024}]


def test_columns_that_the_table_makes_or_metadata_fills_are_not_looked_for_in_values(
    spark: SparkSession, topic: TestTopic, tmp_path: Path
) -> None:
    made(spark, tmp_path / "out", "id INT, twice INT GENERATED ALWAYS AS (id * 2), _offset BIGINT")
    topic.send({"id": 1}, {"id": 2})

    deltaworks.run(pipeline(topic, metadata="offset"), spark=spark)

    assert landed(spark) == [{"id": 1, "twice": 2, "_offset": 0}, {"id": 2, "twice": 4, "_offset": 1}]


def test_a_table_whose_columns_are_replaced_does_not_tell_them(
    spark: SparkSession, topic: TestTopic, tmp_path: Path
) -> None:
    made(spark, tmp_path / "out", "id STRING, gone STRING")
    topic.send({"id": 1})

    deltaworks.run(pipeline(topic, "Overwrite", {"overwriteSchema": True}), spark=spark)

    assert landed(spark) == [{"id": 1}]


def test_transforms_come_between_so_that_a_sample_tells_them(
    spark: SparkSession, topic: TestTopic, tmp_path: Path
) -> None:
    made(spark, tmp_path / "out", "number BIGINT")
    topic.send({"id": 1})
    rename = {"type": "rename", "parameters": {"columns": {"id": "number"}}}

    result = deltaworks.run(pipeline(topic) | {"transform": [rename]}, spark=spark)

    assert planned(result)["reads"].endswith("with the columns of 1 sampled record")
    assert landed(spark) == [{"number": 1}]


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ([], "There are no records, and no table tells the columns"),
        ([b"no JSON", b"[1]", None], "No record that was looked at is a JSON object"),
        ([b"{}"], "The records that were looked at are empty objects"),
        ([b'{"id": 1, "ID": 2}'], "Two columns are called 'id' in the sampled records"),
    ],
)
def test_where_nothing_tells_them_a_schema_is_asked_for(
    spark: SparkSession, topic: TestTopic, values: list[bytes], wrong: str
) -> None:
    topic.send(*values)

    with pytest.raises(ConfigError, match=wrong) as caught:
        read(spark, topic)

    assert "Give a schema" in caught.value.hint


def test_records_that_are_no_json_do_not_disturb_the_sample(spark: SparkSession, topic: TestTopic) -> None:
    topic.send({"id": 1}, b"no JSON", b"\xff", None, {"id": 2, "name": "b"})

    result = deltaworks.run(pipeline(topic, onBadRecord="setAside"), spark=spark)

    assert (result.load.rows_inserted, result.load.rows_set_aside) == (2, 3)
    assert landed(spark) == [{"id": 1, "name": None}, {"id": 2, "name": "b"}]


def test_long_records_leave_room_for_both_ends_of_every_partition(spark: SparkSession, topic: TestTopic) -> None:
    pad = "x" * 5_000
    topic.send(*({"id": number, "pad": pad} for number in range(400)))
    topic.send(*({"id": number, "other": 1, "pad": pad} for number in range(120)), partition=1)
    # By themselves: a producer that meets a new topic may send what comes first last.
    topic.send({"late": "a", "pad": pad})
    topic.send({"later": "b", "pad": pad}, partition=1)

    found = deltaworks.extract(topic.source(), spark=spark)

    assert set(found.columns) == {"id", "pad", "late", "other", "later"}


def test_records_too_odd_for_spark_do_not_stop_the_others(spark: SparkSession, topic: TestTopic) -> None:
    topic.send(
        {"id": 1},
        b'{"id": 2, "n": %s}' % (b"9" * 1_500),
        b'{"id": 3, "n": %s%s}' % (b"[" * 900, b"]" * 900),
        b'{"id": 4, "n": %s1%s}' % (b'{"a":' * 500, b"}" * 500),
    )

    load = deltaworks.run(pipeline(topic, onBadRecord="setAside"), spark=spark).load

    # What no sampled record has is not read; a number that Spark cannot even pass over goes aside.
    assert load.rows_inserted + (load.rows_set_aside or 0) == 4
    assert landed(spark)[0]["id"] == 1
    assert all(row.keys() == {"id"} for row in landed(spark))


def test_columns_of_the_table_that_no_sampled_record_has_are_named_before_they_become_null(
    spark: SparkSession, topic: TestTopic, tmp_path: Path
) -> None:
    made(spark, tmp_path / "out", "id BIGINT, name STRING, Note STRING, rank INT")
    spark.sql(f"INSERT INTO delta.`{tmp_path}/out` VALUES (1, 'a', 'kept by others', 1)")
    topic.send({"id": 1, "name": "b", "RANK": 2})
    load = {"mergeKeys": "id", "mergeSchema": True}

    told = deltaworks.run(pipeline(topic, "Upsert", load, schema="id BIGINT, name STRING, RANK INT"), spark=spark)
    assert landed(spark) == [{"id": 1, "name": "b", "Note": "kept by others", "rank": 2}]
    assert not any("no sampled record" in note for note in planned(told)["notes"])
    result = deltaworks.run(pipeline(topic, "Upsert", load), spark=spark)
    appended = deltaworks.run(pipeline(topic), spark=spark)

    (note,) = (note for note in planned(result)["notes"] if "no sampled record" in note)
    assert note.startswith("extract: no sampled record has the column Note: it becomes null in rows that are updated")
    assert landed(spark)[0] == {"id": 1, "name": "b", "Note": None, "rank": 2}
    assert not any("no sampled record" in note for note in planned(appended)["notes"])
