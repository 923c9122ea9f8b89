"""Where rows go: one file a sink, one line here for each of its names."""

from typing import Annotated

from deltaworks.lake.family import OneOf
from deltaworks.spark.sinks.base import Sink, WritePlan

SINKS = OneOf(
    "sinkType",
    {
        "DeltaLake": "deltaworks.spark.sinks.delta.DeltaSink",
        "File": "deltaworks.spark.sinks.files.FileSink",
        "JDBC": "deltaworks.spark.sinks.jdbc.JdbcSink",
        "Kafka": "deltaworks.spark.sinks.kafka.KafkaSink",
        "MySQL": "deltaworks.spark.sinks.jdbc.JdbcSink",
        "PostgreSQL": "deltaworks.spark.sinks.jdbc.JdbcSink",
        "S3": "deltaworks.spark.sinks.files.FileSink",
    },
)

AnySink = Annotated[Sink, SINKS]

__all__ = ["SINKS", "AnySink", "Sink", "WritePlan"]
