"""The formats of files, and what each of them needs and takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from deltaworks.errors import SetupError, did_you_mean
from deltaworks.lake.model import problem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FileFormat = Literal["csv", "json", "parquet", "avro"]
TEXT: tuple[FileFormat, ...] = ("csv", "json")

_NONE = {"none": "uncompressed", "uncompressed": "uncompressed"}
_OF_TEXT = _NONE | {name: name for name in ("bzip2", "deflate", "gzip", "lz4", "snappy")}
_CODECS = {
    "csv": _OF_TEXT,
    "json": _OF_TEXT,
    "parquet": _NONE | {name: name for name in ("gzip", "lz4", "lz4_raw", "snappy", "zstd")},
    "avro": _NONE | {name: name for name in ("bzip2", "deflate", "snappy", "xz")} | {"zstd": "zstandard"},
}


def codec(kind: FileFormat, name: str) -> str:
    """What Spark calls a compression for files of this format; refuses one that it cannot write."""
    if name not in _CODECS[kind]:
        raise problem(f"{kind} files cannot be compressed with {name!r}", did_you_mean(name, _CODECS[kind]))
    return _CODECS[kind][name]


def groups_of(kind: FileFormat) -> frozenset[str]:
    """The jars that a format needs: Spark itself knows all but Avro."""
    return frozenset({"avro"}) if kind == "avro" else frozenset()


def require_format(spark: SparkSession, kind: FileFormat) -> None:
    """Refuse a session that does not know a format, naming the jar it lacks."""
    from pyspark.errors import AnalysisException

    if not groups_of(kind):
        return
    try:
        _ = spark.read.format(kind).schema("x INT").load([]).schema
    except AnalysisException as error:
        if "Failed to find data source" not in str(error):
            raise
        raise _jar_missing(kind) from error


def _jar_missing(kind: FileFormat) -> SetupError:
    from deltaworks.spark.jars import jars_of

    jar = jars_of(groups_of(kind))[-1]
    return SetupError(
        f"This session cannot read or write {kind} files: it lacks a jar.",
        hint=f"Make the session with {jar.group}:{jar.artifact}:{jar.version}, or let deltaworks open it.",
    )
