from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from deltaworks.lake.mode import WriteMode
from deltaworks.spark.sinks import AnySink
from deltaworks.spark.sinks.files import FileSink


def sink(kind: str = "File", **parameters: Any) -> FileSink:
    values = {"sinkType": kind, "connectionParams": {"format": "csv", "path": "out", **parameters}}
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
