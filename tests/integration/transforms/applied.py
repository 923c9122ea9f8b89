"""A transform as a pipeline file has it, applied to rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from deltaworks.spark.transforms import AnyTransform, Transform
from deltaworks.spark.transforms.base import NO_INPUTS, Inputs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def step(kind: str, **parameters: Any) -> Transform:
    """Read a transform from its place in a file."""
    found: Transform = TypeAdapter(AnyTransform).validate_python({"type": kind, "parameters": parameters})
    return found


def applied(rows: DataFrame, kind: str, inputs: Inputs = NO_INPUTS, /, **parameters: Any) -> DataFrame:
    """Apply a transform to rows."""
    return step(kind, **parameters).apply(rows, inputs)
