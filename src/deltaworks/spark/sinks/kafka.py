"""Rows into a Kafka topic, each a record."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from deltaworks.lake.given import SchemaFile
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.model import Columns, Location, problem
from deltaworks.lake.schema import columns
from deltaworks.lake.storage import one_spelling
from deltaworks.runs.result import LoadResult
from deltaworks.spark.connector import unless_said
from deltaworks.spark.counting import counted
from deltaworks.spark.formats import require_format
from deltaworks.spark.kafka.broker import Broker
from deltaworks.spark.kafka.end import KafkaEnd
from deltaworks.spark.kafka.login import TO_HIDE
from deltaworks.spark.kafka.schema import check_schema, schema_given
from deltaworks.spark.kafka.session import newer, with_jars
from deltaworks.spark.kafka.settings import refuse_options
from deltaworks.spark.kafka.topics import a_topic
from deltaworks.spark.sinks.base import EACH, Sink, WritePlan, beside
from deltaworks.spark.sinks.delta import aside_at
from deltaworks.spark.sinks.kafka_records import (
    JSON,
    PIPELINE,
    RUN,
    avro_value,
    check_avro,
    json_value,
    key_of,
    records,
    sending,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from deltaworks.lake.commit import Commit
    from deltaworks.spark.batch import Batch
    from deltaworks.spark.look import Findings
    from deltaworks.spark.surroundings import Surroundings

AT_LEAST_ONCE = "Kafka gets each row at least once: a load that is run again, or fails half way, sends rows twice"
HIDDEN = "spark.sql.redaction.string.regex"
OPTIONS = {"topic": "it has a key of its own", "ignorenullfields": "nulls are always there"}


def _a_topic(text: str) -> str:
    a_topic(text.replace(EACH, "table"))
    return text


class KafkaSink(KafkaEnd, Sink):
    """A topic, to which each row is added as a record, at least once: a topic carries no marks. Each record has the
    headers `deltaworks-pipeline`, `deltaworks-run` and `deltaworks-row`, by which a second delivery is known."""

    sink_type: Literal["Kafka"]
    """`Kafka`."""
    topic: Annotated[str, AfterValidator(_a_topic)]
    """The topic, which must be there."""
    value_format: Literal["json", "avro"] = "json"
    """What a value is: a `json` object of all columns, nulls included, or an `avro` record."""
    ddl: Annotated[str | None, Field(alias="schema")] = None
    """For Avro: the schema of the values, as JSON text. Without it, it follows from the columns."""
    schema_name: SchemaFile | None = None
    """For Avro: a file that holds the schema, `.avsc`."""
    key_columns: Columns | None = None
    """The columns whose values become the key: of one column its value as text, of several a JSON object."""
    aside_path: Location | None = None
    """Where rows go that break a rule with `onFailure: setAside`, or records that cannot be read: a Delta table."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        refuse_options(self.options, OPTIONS)
        if self.value_format == "json" and (self.ddl or self.schema_name):
            raise problem("A schema is for valueFormat: avro only", "Leave it out, or use select and cast transforms.")
        check_schema(self.value_format, self.ddl, self.schema_name)
        return self

    @property
    def place(self) -> str:
        """The topic of the cluster."""
        return self.at(self.topic)

    @property
    def jar_groups(self) -> frozenset[str]:
        """Kafka's, Avro's where values are, and those of the storage of what is set aside."""
        avro = {"avro"} if self.value_format == "avro" else set()
        s3 = {"s3"} if one_spelling(self.aside_path or "").startswith("s3a://") else set()
        return super().jar_groups | avro | s3

    def located(self, around: Surroundings) -> Self:
        """This sink with the way to its cluster, and to the storage of what is set aside."""
        found = super().located(around)
        if self.aside_path is None:
            return found
        return found.reached_by(around.access_to(self.aside_path, None, self.storage_options()))

    def check_mode(self, mode: WriteMode) -> None:
        """Records can be added, and nothing else."""
        if mode is not WriteMode.APPEND:
            raise problem(f"A topic cannot take {mode.value}", "Use Append; keyColumns lets readers find the newest.")

    def scratch(self, own: str) -> str:
        """Beside what is set aside, or among the machine's temporary files."""
        if self.aside_path is None:
            return f"{tempfile.gettempdir()}/.deltaworks.{own}.staging"
        return beside(self.aside_path, f".{{}}.{own}.staging")

    def check_aside(self) -> None:
        """A topic has no place beside it."""
        if self.aside_path is None:
            raise problem("There is no place for what is set aside", "Add asidePath, where a Delta table may be made.")

    def aside(self) -> Sink:
        """The Delta table at `asidePath`."""
        return aside_at(self.aside_path or "", self.access)

    def plan(self, rows: DataFrame, mode: WriteMode, findings: Findings | None = None) -> WritePlan:
        """Say what would be sent; refuses a topic that is not there."""
        servers = self.login.servers
        make = f"Make it: kafka-topics.sh --bootstrap-server {servers} --create --topic {self.topic} --partitions 3"
        Broker(self.login).require(self.topic, then=make)
        self._value(rows)
        self._key(rows)
        return WritePlan(
            target=self.place,
            version=None,
            action=f"add {self.value_format} records to the topic {self.topic} at {servers}",
            columns=columns(rows.schema.json()),
            notes=(AT_LEAST_ONCE,),
        )

    def write(self, batch: Batch, mode: WriteMode, commit: Commit) -> LoadResult:
        """Send the rows; what was sent before a failure stays."""
        passing, count = counted(batch.rows)
        facts = {PIPELINE: commit.pipeline, RUN: commit.run_id}
        known = {name: text for name, text in facts.items() if text is not None}
        sent = records(passing, self._value(passing), self._key(passing), known)
        # The newer connector shows its settings in plans, the login among them.
        hidden = "|".join(filter(None, (TO_HIDE, passing.sparkSession.conf.get(HIDDEN, None))))
        with newer(passing.sparkSession, {HIDDEN: hidden}), with_jars(), sending(self.topic):
            sent.write.format("kafka").options(**self._options()).mode("append").save()
        number = count() or 0
        return LoadResult(success=True, rows_read=number, rows_inserted=number, rows_written=number)

    def _key(self, rows: DataFrame) -> str | None:
        return key_of(rows, self.key_columns) if self.key_columns else None

    def _value(self, rows: DataFrame) -> str:
        """SQL for the value; refuses rows that it cannot hold."""
        if self.value_format == "json":
            return json_value(rows.columns, unless_said(JSON, self.spark_options()))
        require_format(rows.sparkSession, "avro")
        given = schema_given("avro", self.ddl, self.schema_name)
        schema = given.avro if given else None
        value = avro_value(rows.columns, schema)
        check_avro(rows, value, schema)
        return value

    def _options(self) -> dict[str, str]:
        own = {"topic": self.topic, "kafka.enable.idempotence": "true", "kafka.acks": "all"}
        return {**self.spark_options(), **self.client_options(), **own}
