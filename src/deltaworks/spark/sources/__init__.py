"""Where rows come from: one file a source, one line here for each of its names."""

from typing import Annotated

from deltaworks.lake.family import OneOf
from deltaworks.spark.sources.base import Source

SOURCES = OneOf(
    "sourceType",
    {
        "DeltaLake": "deltaworks.spark.sources.delta.DeltaSource",
        "File": "deltaworks.spark.sources.files.FileSource",
        "JDBC": "deltaworks.spark.sources.jdbc.JdbcSource",
        "Kafka": "deltaworks.spark.sources.kafka.KafkaSource",
        "MySQL": "deltaworks.spark.sources.jdbc.JdbcSource",
        "PostgreSQL": "deltaworks.spark.sources.jdbc.JdbcSource",
        "S3": "deltaworks.spark.sources.files.FileSource",
    },
)

AnySource = Annotated[Source, SOURCES]

__all__ = ["SOURCES", "AnySource", "Source"]
