"""Where rows go: one file a sink, one line here."""

from typing import Annotated

from pydantic import Field

from deltaworks.spark.sinks.base import Sink, WritePlan
from deltaworks.spark.sinks.delta import DeltaSink
from deltaworks.spark.sinks.files import FileSink

AnySink = Annotated[
    DeltaSink
    | FileSink,
    Field(discriminator="sink_type"),
]  # fmt: skip

__all__ = ["AnySink", "Sink", "WritePlan"]
