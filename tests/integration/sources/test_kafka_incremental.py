"""Records of topics, read on from where the table says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.increments import batches, broken_off, ids, meanwhile, run
from tests.integration.rows import both
from tests.servers.topic import new_topic

from deltaworks.spark.kafka.position import OffsetsGoneError
from deltaworks.spark.kafka.ranges import NoRangeError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.servers.kafka import KafkaServer
    from tests.servers.topic import TestTopic

pytestmark = pytest.mark.usefixtures("elsewhere")


def records(topic: TestTopic, incremental: Any = True, **params: Any) -> dict[str, Any]:
    return {**topic.source(**{"schema": "id INT, n INT", **params}), "incremental": incremental}


def send(topic: TestTopic, *numbers: int, partition: int = 0, n: int = 0) -> None:
    topic.send(*({"id": number, "n": n} for number in numbers), partition=partition)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def test_records_land_once_over_many_runs(spark: SparkSession, topic: TestTopic, out: Path) -> None:
    for start in (0, 3, 6):
        send(topic, start, start + 1, partition=0)
        send(topic, start + 2, partition=1)
        result = run(spark, records(topic), out)
        assert (result.load.rows_inserted, result.load.batches) == (3, 1)

    again = run(spark, records(topic), out)

    assert ids(both(spark, out)) == list(range(9))
    assert again.load.batches == 0
    assert again.standing
    assert again.standing.position == again.standing.end == "partition 0 at 6, partition 1 at 3"


def test_a_batch_is_no_larger_than_the_file_says(spark: SparkSession, topic: TestTopic, out: Path) -> None:
    send(topic, *range(5))
    send(topic, *range(5, 10), partition=1)

    result = run(spark, records(topic, {"maxRecordsPerBatch": 4}), out)

    assert ids(both(spark, out)) == list(range(10))
    assert result.load.batches == len(batches(out)) == 3


def test_a_partition_that_came_later_is_read_from_its_beginning(
    spark: SparkSession, topic: TestTopic, out: Path
) -> None:
    from confluent_kafka.cimpl import NewPartitions

    send(topic, 1)
    run(spark, records(topic), out)
    admin = topic.admin()
    admin.create_partitions([NewPartitions(topic.name, 3)])[topic.name].result(20)
    send(topic, 2, partition=2)
    send(topic, 3)

    run(spark, records(topic), out)

    assert ids(both(spark, out)) == [1, 2, 3]


def test_columns_that_are_found_out_are_those_of_the_table_by_the_second_batch(
    spark: SparkSession, topic: TestTopic, out: Path
) -> None:
    send(topic, 1)
    run(spark, records(topic, schema=None), out)
    topic.send({"id": 2})

    run(spark, records(topic, schema=None), out)

    assert both(spark, out) == [{"id": 1, "n": 0}, {"id": 2, "n": None}]


def test_of_a_key_the_newest_record_of_a_batch_lands_and_older_ones_of_later_batches_do_not(
    spark: SparkSession, topic: TestTopic, out: Path
) -> None:
    load: dict[str, Any] = {"load": {"mergeKeys": "id", "updateCondition": "source.n > target.n"}}
    for n in (1, 3, 5):
        send(topic, 1, n=n)
    run(spark, records(topic), out, "Upsert", **load)
    send(topic, 1, n=4)
    send(topic, 2, n=1)

    run(spark, records(topic), out, "Upsert", **load)

    assert both(spark, out) == [{"id": 1, "n": 5}, {"id": 2, "n": 1}]


@pytest.mark.parametrize("step", ["before_commit", "after_commit", "before_cache"])
def test_a_run_broken_off_reads_the_same_records_once(
    spark: SparkSession, topic: TestTopic, out: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    send(topic, 1)
    with broken_off(monkeypatch, step):
        run(spark, records(topic), out)
    send(topic, 2, partition=1)

    run(spark, records(topic), out)

    assert ids(both(spark, out)) == [1, 2]


def test_bad_records_of_a_batch_are_set_aside_and_the_rest_lands(
    spark: SparkSession, topic: TestTopic, out: Path
) -> None:
    send(topic, 1)
    topic.send(b"{")
    source = records(topic, onBadRecord="setAside")
    run(spark, source, out)
    topic.send(b"}")
    send(topic, 2)

    run(spark, source, out)

    assert ids(both(spark, out)) == [1, 2]
    assert [row["batch"] for row in both(spark, out.with_name("out_aside"))] == [1, 2]


def test_records_that_were_removed_before_they_were_read_are_told(
    spark: SparkSession, topic: TestTopic, out: Path
) -> None:
    send(topic, 1)
    run(spark, records(topic), out)
    send(topic, 2, 3, 4)
    topic.forget(3)

    with pytest.raises(OffsetsGoneError, match="2 were removed before they were read") as told:
        run(spark, records(topic), out)

    assert "--full-refresh" in told.value.hint


def test_a_topic_that_was_made_anew_is_refused(spark: SparkSession, topic: TestTopic, out: Path) -> None:
    send(topic, 1, 2)
    run(spark, records(topic), out)
    made_anew(topic)
    send(topic, 7, 8, 9)

    with pytest.raises(OffsetsGoneError, match="made anew"):
        run(spark, records(topic), out)

    assert ids(both(spark, out)) == [1, 2]


def test_a_topic_that_is_made_anew_between_two_batches_is_refused(
    spark: SparkSession, topic: TestTopic, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_records() -> None:
        made_anew(topic)
        send(topic, *range(11, 20))

    send(topic, 1, 2, 3, 4)
    meanwhile(monkeypatch, "after_batch", other_records)

    with pytest.raises(OffsetsGoneError, match=r"extract: Topic .* was deleted and made anew"):
        run(spark, records(topic, {"maxRecordsPerBatch": 2}), out)

    assert ids(both(spark, out)) == [1, 2]


def made_anew(topic: TestTopic) -> None:
    """Delete a topic and make one of the same name, as soon as the broker has forgotten the first."""
    from confluent_kafka import KafkaException

    admin = topic.admin()
    admin.delete_topics([topic.name])[topic.name].result(20)
    for _ in range(50):
        try:
            new_topic(topic.server, name=topic.name)
        except KafkaException:
            continue
        return


def test_a_full_refresh_reads_all_records_anew(spark: SparkSession, topic: TestTopic, out: Path) -> None:
    send(topic, 1)
    run(spark, records(topic), out)
    send(topic, 2)

    result = run(spark, records(topic), out, full_refresh=True)
    send(topic, 3)
    run(spark, records(topic), out)

    assert result.load.rows_inserted == 2
    assert ids(both(spark, out)) == [1, 2, 3]


def test_a_range_of_offsets_lands_once_and_moves_no_position(spark: SparkSession, topic: TestTopic, out: Path) -> None:
    send(topic, 1, 2, 3)
    run(spark, records(topic), out)
    between = tuple(f'{{"{topic.name}": {{"0": {at}, "1": 0}}}}' for at in (1, 2))

    run(spark, records(topic), out, between=(between[0], between[1]))
    again = run(spark, records(topic), out, between=(between[0], between[1]))

    assert again.load.already_landed
    assert ids(both(spark, out)) == [1, 2, 2, 3]
    assert run(spark, records(topic), out).load.batches == 0


def test_a_range_of_a_topic_with_many_partitions_lands_once_however_it_is_spelled(
    spark: SparkSession, kafka: KafkaServer, out: Path
) -> None:
    wide = new_topic(kafka, 24)
    send(wide, 1, 2, 3, partition=23)
    first, last = ({wide.name: {str(each): 0 for each in range(23)} | {"23": at}} for at in (1, 2))

    run(spark, records(wide), out, between=(json.dumps(first), json.dumps(last)))
    again = run(spark, records(wide), out, between=(json.dumps(first, indent=1), json.dumps(last, sort_keys=True)))

    assert again.load.already_landed
    assert ids(both(spark, out)) == [2]


def test_a_range_of_a_topic_whose_ends_are_swapped_is_refused_and_its_key_is_free(
    spark: SparkSession, topic: TestTopic, out: Path
) -> None:
    send(topic, 1)

    with pytest.raises(NoRangeError, match="extract: 2100-01-01 is not before 2024-01-01"):
        run(spark, records(topic), out, between=("2100-01-01", "2024-01-01"))
    run(spark, records(topic), out, between=("2024-01-01", "2100-01-01"))

    assert ids(both(spark, out)) == [1]
