from __future__ import annotations

import pytest
from pyspark.sql.types import DataType, IntegerType, LongType, StringType, StructField, StructType

from deltaworks.spark.sources.files_avro import OtherTypesError, merged


def struct(**kinds: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in kinds.items()])


def test_columns_of_all_files_stand_in_the_order_in_which_they_come() -> None:
    first = struct(id=LongType(), day=StringType())
    files = [struct(id=LongType()), struct(z=StringType(), id=LongType()), struct(ID=LongType(), a=IntegerType())]

    assert merged(first, [("f", each) for each in files]).names == ["id", "day", "z", "a"]
    assert merged(first, [("f", first)]) == first


def test_what_may_be_null_in_one_file_only_is_of_one_type() -> None:
    strict = StructType([StructField("x", IntegerType(), nullable=False)])

    assert merged(struct(s=struct(x=IntegerType())), [("f", struct(s=strict))]).names == ["s"]


def test_a_column_of_another_type_is_told_by_its_file() -> None:
    files = [("a.avro", struct(id=LongType())), ("b.avro", struct(id=LongType(), N=StringType()))]

    with pytest.raises(OtherTypesError) as caught:
        merged(struct(n=IntegerType()), files)

    assert str(caught.value) == "Column 'N' is string in b.avro and int in a file before it."
