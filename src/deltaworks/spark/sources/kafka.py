"""Rows of Kafka topics, between offsets that are fixed before the first record is read."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, PrivateAttr, TypeAdapter, model_validator

from deltaworks.errors import ConfigError
from deltaworks.lake.given import SchemaFile
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.model import Columns, Flag, FromText, Whole
from deltaworks.lake.travel import instant
from deltaworks.spark.formats import require_format
from deltaworks.spark.kafka.broker import Broker
from deltaworks.spark.kafka.end import KafkaEnd
from deltaworks.spark.kafka.offsets import LATEST, Ending, Starting, between, resolved
from deltaworks.spark.kafka.position import KafkaPosition
from deltaworks.spark.kafka.ranges import range_between
from deltaworks.spark.kafka.sample import sampled
from deltaworks.spark.kafka.schema import schema_given
from deltaworks.spark.kafka.session import newer, with_jars
from deltaworks.spark.kafka.span import KafkaSpan, Partition
from deltaworks.spark.kafka.topics import a_pattern, a_topic, several_topics
from deltaworks.spark.sources.base import Incremental, Source
from deltaworks.spark.sources.incremental import Delivered, Request, Streamed, position_of, understanding
from deltaworks.spark.sources.kafka_columns import Json, found_out, merged, of_table, unseen
from deltaworks.spark.sources.kafka_rows import Decoded, Decoding, bytes_decoding, require_names, text_decoding
from deltaworks.spark.sources.kafka_rules import check_together, known_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from deltaworks.spark.kafka.span import Extent
    from deltaworks.spark.sinks.base import Sink
    from deltaworks.spark.surroundings import Surroundings

ISOLATION = "kafka.isolation.level"
TopicName = Annotated[str, AfterValidator(a_topic)]


class KafkaIncremental(Incremental):
    """Read only the records that are new since the last run."""

    max_records_per_batch: Annotated[Whole, Field(ge=1)] | None = None
    """How many records one batch reads at most, of all partitions together."""


class KafkaSource(KafkaEnd, Streamed, Source):
    """Records of one or more topics, each a row. Where reading ends is decided before it begins."""

    source_type: Literal["Kafka"]
    """`Kafka`."""
    topic: TopicName | None = None
    """The topic. This, `topics` or `topicPattern` is needed."""
    topics: Annotated[tuple[TopicName, ...], FromText(), AfterValidator(several_topics)] | None = None
    """Several topics, as one set of rows."""
    topic_pattern: Annotated[str, AfterValidator(a_pattern)] | None = None
    """All topics whose whole name this regular expression matches, but for Kafka's own, `__…`."""
    starting_offsets: Starting = "earliest"
    """Where to begin: `earliest`, `latest`, or an offset for every partition, as `{"orders": {"0": 23, "1": -2}}`.
    -2 and -1 are the earliest and the latest."""
    ending_offsets: Ending = "latest"
    """Where to end: `latest`, as it is when the run begins, or the first offset of every partition that is not read."""
    starting_timestamp: str | None = None
    """Begin with the first record of this time or later; UTC where no zone is given."""
    ending_timestamp: str | None = None
    """End before the first record of this time or later."""
    value_format: Literal["json", "avro", "string", "binary"] = "json"
    """What values are: `json` objects, `avro` records, or one column `value` of type `string` or `binary`."""
    ddl: Annotated[str | None, Field(alias="schema")] = None
    """The columns of JSON as SQL types, `id BIGINT, name STRING`; for Avro its schema, as JSON text. Without it JSON
    has the columns of the target table, and what is new in a sample of the records."""
    schema_name: SchemaFile | None = None
    """A file that holds the columns: SQL types in `.ddl`, `.sql` or `.txt`, Spark's `.json`, or for Avro an `.avsc`."""
    confluent_header: Flag = False
    """For Avro: values begin with the five bytes of a schema registry, which are passed over."""
    on_bad_record: Literal["fail", "setAside"] = "fail"
    """A record that cannot be read: fails the run, or goes to the table aside."""
    on_tombstone: Literal["fail", "skip"] = "fail"
    """A record without a value, of JSON or Avro: cannot be read, or is left out."""
    metadata: Annotated[Columns, AfterValidator(known_metadata)] | None = None
    """What else becomes a column, with `_` before its name: `key`, `headers`, `topic`, `partition`, `offset`,
    `timestamp`, `timestampType`. A key is text, or bytes where values are."""
    incremental: KafkaIncremental | None = None
    """Read only what is new since the last run."""
    min_partitions: Annotated[Whole, Field(ge=1)] | None = None
    """Read in at least so many tasks, also where a topic has fewer partitions."""

    _target: Json | None = PrivateAttr(default=None)
    _updates: bool = PrivateAttr(default=False)  # whether rows of the target are
    _kept: list[Broker] = PrivateAttr(default_factory=list)  # at most one, for all copies that know the target

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        check_together(self)
        return self

    @property
    def place(self) -> str:
        """The topics of the cluster."""
        return self.at(self.topic or self.topic_pattern or ",".join(sorted(self.topics or ())))

    @property
    def jar_groups(self) -> frozenset[str]:
        """Kafka's, and Avro's where values are."""
        return super().jar_groups | ({"avro"} if self.value_format == "avro" else set())

    @property
    def sets_aside(self) -> bool:
        """Whether the file says so."""
        return self.on_bad_record == "setAside"

    @property
    def _committed(self) -> bool:
        return self.settings.get(ISOLATION, "read_committed") == "read_committed"

    @property
    def _finds_columns(self) -> bool:
        return self.value_format == "json" and not (self.ddl or self.schema_name)

    def located(self, around: Surroundings) -> Self:
        """This source with the way to its cluster known, on which it has asked nothing yet."""
        found = super().located(around)
        found._kept = []
        return found

    def toward(self, sink: Sink) -> Self:
        """This source, with the columns of the table its rows go to, where the file gives none."""
        table = sink.target() if self._finds_columns and not getattr(sink, "overwrite_schema", False) else None
        if table is None:
            return self
        found = self.model_copy()
        found._target = of_table(table.schema_json, without=[f"_{name}" for name in self.metadata or ()])
        found._updates = sink.row_keys(WriteMode.UPSERT) is not None
        return found

    def fixed(self) -> KafkaSpan:
        """Ask the broker what is there, and decide what of it is read."""
        broker, there = self._there()
        starts, ends = self._starts(broker, there), self._ends(broker, there)
        if self.starting_timestamp is not None:
            starts = {each: min(start, ends[each]) for each, start in starts.items()}
        if self.ending_timestamp is not None:
            ends = {each: max(end, starts[each]) for each, end in ends.items()}
        return self._with_sample(broker, between(there, starts, ends))

    def _there(self) -> tuple[Broker, list[Extent]]:
        broker = Broker(self.login)
        return broker, broker.extents(self._partitions(broker), committed=self._committed)

    def _partitions(self, broker: Broker) -> list[Partition]:
        named = self.topics or ((self.topic,) if self.topic else ())
        found = broker.require(*named) if self.topic_pattern is None else broker.matching(self.topic_pattern)
        return [Partition(topic, number) for topic in sorted(found) for number in found[topic]]

    def _starts(self, broker: Broker, there: Sequence[Extent]) -> dict[Partition, int]:
        if self.starting_timestamp is None:
            return resolved(self.starting_offsets, there, "startingOffsets")
        return self._at(broker, self.starting_timestamp, there)

    def _ends(self, broker: Broker, there: Sequence[Extent]) -> dict[Partition, int]:
        if self.ending_timestamp is None:
            return resolved(self.ending_offsets, there, "endingOffsets")
        return self._at(broker, self.ending_timestamp, there)

    def _at(self, broker: Broker, time: str, there: Sequence[Extent]) -> dict[Partition, int]:
        found = broker.offsets_at(instant(time), [each.partition for each in there], committed=self._committed)
        latest = resolved(LATEST, there, "")
        return {each: latest[each] if offset < 0 else min(offset, latest[each]) for each, offset in found.items()}

    def _with_sample(self, broker: Broker, extents: list[Extent]) -> KafkaSpan:
        if not self._finds_columns:
            return KafkaSpan(extents=tuple(extents))
        group = self.settings.get("kafka.group.id")
        sample = sampled(broker, extents, committed=self._committed, group=None if group is None else str(group))
        if not sample and self._target is None:
            some = any(each.length for each in extents)
            what = "No record that was looked at is a JSON object" if some else "There are no records"
            raise ConfigError(
                f"{what}, and no table tells the columns.", hint="Give a schema, or check topic and valueFormat."
            )
        return KafkaSpan(extents=tuple(extents), sample=tuple(sample))

    def read(self, spark: SparkSession, span: KafkaSpan) -> DataFrame:
        """The rows of the span, lazily."""
        return self._decoded(self._records(spark, span), span).rows(set_aside=self.sets_aside)

    def unreadable(self, spark: SparkSession, span: KafkaSpan) -> DataFrame | None:
        """The records of the span that cannot be read, where they are to be set aside."""
        return self._decoded(self._records(spark, span), span).unreadable() if self.sets_aside else None

    def _decoded(self, records: DataFrame, span: KafkaSpan) -> Decoded:
        decoding = self._decoding(records.sparkSession, span, records)
        require_names(decoding.columns, self.metadata or ())
        if self.on_tombstone == "skip":
            records = records.where("value IS NOT NULL")
        return Decoded(
            records=records,
            decoding=decoding,
            metadata=self.metadata or (),
            binary_keys=self.value_format == "binary",
        )

    def _records(self, spark: SparkSession, span: KafkaSpan) -> DataFrame:
        with newer(spark), with_jars():
            return spark.read.format("kafka").options(**self._options(), **span.to_options()).load()

    def _options(self) -> dict[str, str]:
        own = {ISOLATION: "read_committed", **self.client_options(), "failOnDataLoss": "true"}
        own |= {"includeHeaders": "true"} if "headers" in (self.metadata or ()) else {}
        own |= {"minPartitions": str(self.min_partitions)} if self.min_partitions else {}
        return self.spark_options() | own

    def identity(self) -> str:
        """The cluster, and the topics' names or their pattern."""
        names = self.topic_pattern or ",".join(sorted(self.topics or (self.topic or "",)))
        return f"kafka:{Broker(self.login).cluster()}/{names}"

    def beginning(self) -> Any:
        """Where the file says, or with the earliest records."""
        broker, there = self._there()
        return KafkaPosition.at(broker, self._starts(broker, there)).to_dict()

    def end(self) -> Any:
        """Behind the latest records."""
        broker, there = self._there()
        return KafkaPosition.at(broker, resolved(LATEST, there, "")).to_dict()

    def require_there(self, position: Any) -> None:
        """See that the topics are the same, and no record that was not read is gone."""
        broker, there = self._there()
        KafkaPosition.of(position).require_there(broker, there)

    def told(self, position: Any) -> str:
        """The next offset of each partition."""
        return str(KafkaPosition.of(position))

    def understood(self, text: str) -> Any:
        """The next offset of every partition, as Spark spells them or a commit does; -2 and -1 are the two ends."""
        said = position_of(text)
        with understanding(text):
            offsets = TypeAdapter(Starting).validate_python(KafkaPosition.offsets_in(said))
        broker, there = self._there()
        return KafkaPosition.at(broker, resolved(offsets, there, "The position")).to_dict()

    def stream(self, spark: SparkSession) -> DataFrame:
        """New records, from the offsets on that the checkpoint says; partitions that come later too."""
        # As a whole name, and none of Kafka's own.
        like = {"subscribePattern": f"^(?!__)(?:{self.topic_pattern})$"} if self.topic_pattern else {}
        names = like or {"subscribe": ",".join(self.topics or (self.topic or "",))}
        most = self.incremental.max_records_per_batch if self.incremental else None
        limit = {"maxOffsetsPerTrigger": str(most)} if most else {}
        with with_jars():
            return spark.readStream.format("kafka").options(**self._options(), **names, **limit).load()

    def to_offset(self, position: Any) -> str:
        """As Spark spells it, to the letter: it compares texts to see whether there is something new."""
        return json.dumps(KafkaPosition.of(position).offsets, separators=(",", ":"))

    def of_offset(self, offset: str, before: Any) -> Any:
        """As Spark spells it; refuses one of topics that were made anew, whose offsets Spark takes for the same."""
        offsets, known = json.loads(offset), KafkaPosition.of(before)
        ids = self._topic_ids(offsets)
        known.require_same(ids)
        return KafkaPosition(offsets, {**known.topics, **ids}).to_dict()

    def _topic_ids(self, names: Iterable[str]) -> dict[str, str]:
        """The ids of topics, asked over one connection batch after batch: making one takes many times as long."""
        broker = self._kept.pop() if self._kept else Broker(self.login)
        found = broker.topic_ids(names)
        self._kept.append(broker)  # only one that has answered
        return found

    def delivered(self, rows: DataFrame, start: Any, end: Any) -> Delivered:
        """The records of one batch, decoded."""
        extents = KafkaPosition.of(start).up_to(KafkaPosition.of(end))
        return self._delivery(rows, self._sampled(extents), end)

    def _sampled(self, extents: list[Extent]) -> KafkaSpan:
        return self._with_sample(Broker(self.login), extents) if self._finds_columns else KafkaSpan(extents=(*extents,))

    def _delivery(self, records: DataFrame, span: KafkaSpan, end: Any) -> Delivered:
        decoded = self._decoded(records, span)
        return Delivered(
            rows=decoded.rows(set_aside=self.sets_aside),
            said=self.describe(span),
            end=end,
            unreadable=decoded.unreadable() if self.sets_aside else None,
            remarks=self.remarks(span),
        )

    @contextmanager
    def following(self, spark: SparkSession, request: Request) -> Iterator[Delivered | None]:
        """All records that follow a position, read as one batch."""
        end = self.end()
        extents = KafkaPosition.of(request.position).up_to(KafkaPosition.of(end))
        if not request.whole and not any(each.length for each in extents):
            yield None
            return
        span = self._sampled(extents)
        yield self._delivery(self._records(spark, span), span, end)

    def between(self, start: str, end: str) -> Source:
        """The records from one time up to another, or between offsets given as JSON."""
        whole = {"incremental": None, "starting_timestamp": None, "ending_timestamp": None}
        return self.model_copy(update=whole | range_between(start, end))

    def _decoding(self, spark: SparkSession, span: KafkaSpan, records: DataFrame) -> Decoding:
        match self.value_format:
            case "string":
                return text_decoding()
            case "binary":
                return bytes_decoding()
            case "avro":
                return self._avro(spark, records)
        from pyspark.sql.types import StructType

        from deltaworks.spark.sources.kafka_json import json_decoding

        return json_decoding(StructType.fromJson(self._columns(spark, span)), self.spark_options())

    def _avro(self, spark: SparkSession, records: DataFrame) -> Decoding:
        from deltaworks.spark.sources.kafka_avro import avro_decoding

        require_format(spark, "avro")
        given = schema_given("avro", self.ddl, self.schema_name)
        assert given is not None, "checked when the file was read"
        return avro_decoding(records, given.avro or "", header=self.confluent_header)

    def _columns(self, spark: SparkSession, span: KafkaSpan) -> Json:
        given = schema_given("json", self.ddl, self.schema_name)
        if given is not None and given.spark is not None:
            return given.spark
        found = found_out(spark, span.sample, self.spark_options())
        if self._target is not None:
            return self._target if found is None else merged(self._target, found)
        if found is None:
            raise ConfigError("The records that were looked at are empty objects.", hint="Give a schema.")
        return found

    def remarks(self, span: KafkaSpan) -> tuple[str, ...]:
        """Which columns of rows that are updated become null, as far as the sample tells."""
        missing = unseen(self._target, span.sample) if self._target and self._updates and span.sample else []
        if not missing:
            return ()
        names, it = ", ".join(missing), "them" if len(missing) > 1 else "it"
        becomes = f"columns {names}: they become" if len(missing) > 1 else f"column {names}: it becomes"
        return (
            f"extract: no sampled record has the {becomes} null in rows that are updated; "
            f"to leave {it} alone, give a schema without {it}, and mergeSchema",
        )

    def describe(self, span: KafkaSpan) -> str:
        """What will be read, in one line."""
        return f"{span} at {self.login.servers}; {self._values(span)}"

    def _values(self, span: KafkaSpan) -> str:
        if not self._finds_columns:
            given = " with the schema of the file" if self.value_format in {"json", "avro"} else ""
            return f"{self.value_format} values{given}"
        number = len(span.sample)
        sample = "1 sampled record" if number == 1 else f"{number:,} sampled records"
        if self._target is None:
            return f"json values with the columns of {sample}"
        return f"json values with the columns of the target table, and what is new in {sample}"
