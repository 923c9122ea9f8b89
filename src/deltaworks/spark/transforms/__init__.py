"""What can be done to rows: one file a transform, one line here."""

from typing import Annotated

from deltaworks.lake.family import OneOf
from deltaworks.spark.transforms.base import Transform

TRANSFORMS = OneOf(
    "type",
    {
        "aggregation": "deltaworks.spark.transforms.aggregation.Aggregate",
        "cast": "deltaworks.spark.transforms.cast.Cast",
        "deduplicate": "deltaworks.spark.transforms.deduplicate.Deduplicate",
        "dropColumns": "deltaworks.spark.transforms.drop_columns.DropColumns",
        "explode": "deltaworks.spark.transforms.explode.Explode",
        "filter": "deltaworks.spark.transforms.filter.Filter",
        "flatten": "deltaworks.spark.transforms.flatten.Flatten",
        "join": "deltaworks.spark.transforms.join.Join",
        "parseJson": "deltaworks.spark.transforms.parse_json.ParseJson",
        "pivot": "deltaworks.spark.transforms.pivot.Pivot",
        "python": "deltaworks.spark.transforms.python.Python",
        "rename": "deltaworks.spark.transforms.rename.Rename",
        "select": "deltaworks.spark.transforms.select.Select",
        "sql": "deltaworks.spark.transforms.sql.Sql",
        "union": "deltaworks.spark.transforms.union.Union",
        "window": "deltaworks.spark.transforms.window.Window",
        "withColumn": "deltaworks.spark.transforms.with_column.WithColumn",
    },
)

AnyTransform = Annotated[Transform, TRANSFORMS]

__all__ = ["TRANSFORMS", "AnyTransform", "Transform"]
