"""What can be done to rows: one file a transform, one line here."""

from typing import Annotated

from pydantic import Field

from deltaworks.spark.transforms.aggregation import Aggregate
from deltaworks.spark.transforms.base import Transform
from deltaworks.spark.transforms.cast import Cast
from deltaworks.spark.transforms.deduplicate import Deduplicate
from deltaworks.spark.transforms.drop_columns import DropColumns
from deltaworks.spark.transforms.explode import Explode
from deltaworks.spark.transforms.filter import Filter
from deltaworks.spark.transforms.flatten import Flatten
from deltaworks.spark.transforms.join import Join
from deltaworks.spark.transforms.parse_json import ParseJson
from deltaworks.spark.transforms.pivot import Pivot
from deltaworks.spark.transforms.python import Python
from deltaworks.spark.transforms.rename import Rename
from deltaworks.spark.transforms.select import Select
from deltaworks.spark.transforms.sql import Sql
from deltaworks.spark.transforms.union import Union
from deltaworks.spark.transforms.window import Window
from deltaworks.spark.transforms.with_column import WithColumn

AnyTransform = Annotated[
    Aggregate
    | Cast
    | Deduplicate
    | DropColumns
    | Explode
    | Filter
    | Flatten
    | Join
    | ParseJson
    | Pivot
    | Python
    | Rename
    | Select
    | Sql
    | Union
    | Window
    | WithColumn,
    Field(discriminator="type"),
]  # fmt: skip

__all__ = ["AnyTransform", "Transform"]
