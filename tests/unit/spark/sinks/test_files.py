from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from deltaworks.lake.mode import WriteMode
from deltaworks.spark.sinks import AnySink
from deltaworks.spark.sinks.files import FileSink

if TYPE_CHECKING:
    from pathlib import Path


def sink(kind: str = "File", *, options: dict[str, Any] | None = None, **parameters: Any) -> FileSink:
    inner = {"format": "csv", "path": "out", **parameters}
    values = {"sinkType": kind, "connectionParams": inner, "options": options or {}}
    found = TypeAdapter(AnySink).validate_python(values)
    assert isinstance(found, FileSink)
    return found


@pytest.mark.parametrize("mode", [WriteMode.APPEND, WriteMode.OVERWRITE])
@pytest.mark.parametrize("kind", ["File", "S3"])
def test_files_can_be_added_or_replaced(kind: str, mode: WriteMode) -> None:
    sink(kind).check_mode(mode)


def test_files_cannot_be_upserted() -> None:
    with pytest.raises(PydanticCustomError, match="Files cannot be upserted"):
        sink().check_mode(WriteMode.UPSERT)


def test_files_have_no_table_and_take_no_keys() -> None:
    assert sink().target() is None
    assert not sink().takes_keys
    assert sink().place == "out"


def test_partitions_may_be_spelled_as_text() -> None:
    assert sink(partitionBy='["day", "country"]').partition_by == ("day", "country")


def test_keys_for_a_merge_are_unknown_here() -> None:
    with pytest.raises(ValidationError, match="Unknown key 'mergeKeys'"):
        sink(mergeKeys="id")


def test_a_compression_the_format_does_not_know_is_refused_with_the_closest_one() -> None:
    assert sink(compression="gzip").compression == "gzip"
    with pytest.raises(ValidationError, match="csv files cannot be compressed with 'gzp'"):
        sink(compression="gzp")
    with pytest.raises(ValidationError, match="csv files cannot be compressed with 'zstd'"):
        sink(compression="zstd")


@pytest.mark.parametrize("name", ["compression", "Compression", "codec"])
def test_a_compression_may_be_said_twice_but_not_differently(name: str) -> None:
    sink(compression="gzip", options={name: "GZIP"})
    sink(compression="zstd", format="avro", options={name: "zstandard"})
    with pytest.raises(ValidationError, match="compression is 'gzip' here and 'bzip2' in options"):
        sink(compression="gzip", options={name: "bzip2"})


def test_the_columns_of_files_may_be_promised(tmp_path: Path) -> None:
    (tmp_path / "c.ddl").write_text("id int")

    sink(schema="id int", schemaName=str(tmp_path / "c.ddl"))
    with pytest.raises(ValidationError, match="say different columns"):
        sink(schema="id bigint", schemaName=str(tmp_path / "c.ddl"))


def test_avro_needs_jars_of_its_own() -> None:
    assert sink(format="avro").jar_groups == {"avro"}
    assert sink().jar_groups == frozenset()
