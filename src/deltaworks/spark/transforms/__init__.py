"""What can be done to rows: one file a transform, one line here."""

from typing import Annotated

from pydantic import Field

from deltaworks.spark.transforms.aggregation import Aggregate
from deltaworks.spark.transforms.base import Transform
from deltaworks.spark.transforms.cast import Cast
from deltaworks.spark.transforms.drop_columns import DropColumns
from deltaworks.spark.transforms.filter import Filter
from deltaworks.spark.transforms.rename import Rename
from deltaworks.spark.transforms.select import Select
from deltaworks.spark.transforms.sql import Sql
from deltaworks.spark.transforms.with_column import WithColumn

AnyTransform = Annotated[
    Aggregate
    | Cast
    | DropColumns
    | Filter
    | Rename
    | Select
    | Sql
    | WithColumn,
    Field(discriminator="type"),
]  # fmt: skip

__all__ = ["AnyTransform", "Transform"]
