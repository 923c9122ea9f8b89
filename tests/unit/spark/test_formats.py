from __future__ import annotations

from typing import Any

import pytest
from pydantic_core import PydanticCustomError

from deltaworks.spark.formats import codec, groups_of


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("csv", "gzip", "gzip"),
        ("json", "none", "uncompressed"),
        ("parquet", "zstd", "zstd"),
        ("avro", "zstd", "zstandard"),
        ("avro", "uncompressed", "uncompressed"),
    ],
)
def test_a_compression_has_one_name_for_all_formats(kind: Any, name: str, expected: str) -> None:
    assert codec(kind, name) == expected


@pytest.mark.parametrize(
    ("kind", "name", "hint"),
    [
        ("csv", "gzp", "'gzip'"),
        ("parquet", "GZIP", "'gzip'"),
        ("csv", "zstd", "Known: "),
        ("parquet", "bzip2", "'gzip'"),
        ("avro", "gzip", "'bzip2'"),
        ("parquet", "brotli", "Known: "),
    ],
)
def test_what_spark_cannot_write_is_refused(kind: Any, name: str, hint: str) -> None:
    with pytest.raises(PydanticCustomError, match="cannot be compressed") as caught:
        codec(kind, name)

    assert hint in (caught.value.context or {})["hint"]


def test_only_avro_needs_more_jars() -> None:
    assert groups_of("avro") == {"avro"}
    assert groups_of("csv") == groups_of("json") == groups_of("parquet") == frozenset()
