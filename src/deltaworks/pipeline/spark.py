"""The `spark` part of a pipeline or project file."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deltaworks.lake.model import FileModel


class SparkConfig(FileModel):
    """Where Spark runs, and how."""

    master: str | None = None
    """`local[*]`, `spark://…`, `yarn`, `k8s://…`."""
    conf: dict[str, str | int | float | bool] = Field(default_factory=dict)
    """Any Spark conf, but those that keep loads exactly-once."""
    jars: Literal["managed", "provided"] | None = None
    """`managed`: deltaworks fetches them; `provided`: the platform has them."""
