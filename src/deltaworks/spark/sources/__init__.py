"""Where rows come from: one file a source, one line here."""

from typing import Annotated

from pydantic import Field

from deltaworks.spark.sources.base import Source
from deltaworks.spark.sources.delta import DeltaSource
from deltaworks.spark.sources.files import FileSource

AnySource = Annotated[
    DeltaSource
    | FileSource,
    Field(discriminator="source_type"),
]  # fmt: skip

__all__ = ["AnySource", "Source"]
