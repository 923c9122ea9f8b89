"""Which keys of a Kafka source go together; told by the file alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaworks.errors import did_you_mean
from deltaworks.lake.model import as_problem, problem
from deltaworks.lake.travel import instant
from deltaworks.spark.kafka.offsets import check_order
from deltaworks.spark.kafka.schema import check_schema
from deltaworks.spark.kafka.settings import refuse_options
from deltaworks.spark.sources.kafka_rows import METADATA

if TYPE_CHECKING:
    from deltaworks.spark.kafka.offsets import Offsets
    from deltaworks.spark.sources.kafka import KafkaSource

_OWN_KEY = "it has a key of its own"
OPTIONS = {
    **dict.fromkeys(("subscribe", "subscribepattern", "assign"), "topic, topics or topicPattern says it"),
    **dict.fromkeys(("startingoffsets", "endingoffsets", "startingtimestamp", "endingtimestamp"), _OWN_KEY),
    **dict.fromkeys(("startingoffsetsbytimestamp", "endingoffsetsbytimestamp"), "startingTimestamp says it"),
    "minpartitions": _OWN_KEY,
    "includeheaders": "metadata says it",
    "failondataloss": "a run must not lose records",
    "mode": "onBadRecord says it",
    "columnnameofcorruptrecord": "onBadRecord says it",
}


def check_together(source: KafkaSource) -> None:
    """Refuse what contradicts itself."""
    refuse_options(source.options, OPTIONS)
    _check_topics(source)
    _check_offsets(source)
    _check_values(source)


def known_metadata(names: tuple[str, ...]) -> tuple[str, ...]:
    """What a record has beside its value."""
    unknown = next((name for name in names if name not in METADATA), None)
    if unknown is not None:
        raise problem(f"Records have no {unknown!r}", did_you_mean(unknown, METADATA))
    return names


def _check_topics(source: KafkaSource) -> None:
    ways = {"topic": source.topic, "topics": source.topics, "topicPattern": source.topic_pattern}
    given = [name for name, value in ways.items() if value]
    if not given:
        raise problem("topic is missing", "Add topic, topics or topicPattern.")
    if len(given) > 1:
        raise problem(f"{' and '.join(given)} are both given", "Leave one of them out.")


def _check_offsets(source: KafkaSource) -> None:
    for side in ("starting", "ending"):
        given = [each for each in ("offsets", "timestamp") if f"{side}_{each}" in source.model_fields_set]
        if len(given) > 1:
            raise problem(f"{side}Offsets and {side}Timestamp are both given", "Leave one of them out.")
    _check_times(source.starting_timestamp, source.ending_timestamp)
    for key, offsets in (("startingOffsets", source.starting_offsets), ("endingOffsets", source.ending_offsets)):
        if not isinstance(offsets, str):
            _check_named(source, key, offsets)
    check_order(source.starting_offsets, source.ending_offsets)


def _check_times(start: str | None, end: str | None) -> None:
    with as_problem():
        first, last = (None if text is None else instant(text) for text in (start, end))
    if first is not None and last is not None and first > last:
        raise problem(f"startingTimestamp {start} comes after endingTimestamp {end}", "Swap them.")


def _check_named(source: KafkaSource, key: str, offsets: Offsets) -> None:
    named = source.topics or ((source.topic,) if source.topic else None)
    unknown = next((topic for topic in offsets if named is not None and topic not in named), None)
    if unknown is not None:
        raise problem(f"{key} names the topic {unknown!r}, which is not read", did_you_mean(unknown, named or ()))


def _check_values(source: KafkaSource) -> None:
    kind = source.value_format
    check_schema(kind, source.ddl, source.schema_name)
    if kind == "avro" and not (source.ddl or source.schema_name):
        raise problem("Avro values need a schema", "Add schemaName with an .avsc file, or schema with its text.")
    if source.confluent_header and kind != "avro":
        raise problem("confluentHeader is for valueFormat: avro only", "Leave it out.")
    if "on_tombstone" in source.model_fields_set and kind not in {"json", "avro"}:
        raise problem(f"onTombstone does nothing for valueFormat: {kind}", "Leave it out: such a value is null.")
    if source.on_bad_record == "setAside" and kind == "binary":
        raise problem("onBadRecord does nothing for valueFormat: binary", "Leave it out: all bytes can be read.")
