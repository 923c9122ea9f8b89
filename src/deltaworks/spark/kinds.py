"""Which types of two columns go together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import DataType


def fit(left: DataType, right: DataType) -> bool:
    """Whether Spark brings two types together without guessing: the same, two numbers, or made of such."""
    from pyspark.sql.types import ArrayType, MapType, NullType, NumericType, StructType

    match left, right:
        case (NullType(), _) | (_, NullType()) | (NumericType(), NumericType()):
            return True
        case StructType(), StructType():
            others = {field.name.lower(): field.dataType for field in right}
            return all(fit(each.dataType, others.get(each.name.lower(), each.dataType)) for each in left)
        case ArrayType(), ArrayType():
            return fit(left.elementType, right.elementType)
        case MapType(), MapType():
            return fit(left.keyType, right.keyType) and fit(left.valueType, right.valueType)
    return left.simpleString() == right.simpleString()
