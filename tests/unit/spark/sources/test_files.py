from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from deltaworks.errors import ConfigError
from deltaworks.spark.sources import AnySource
from deltaworks.spark.sources.files import FileSource

if TYPE_CHECKING:
    from pathlib import Path


def source(path: object, kind: str = "File", **more: Any) -> FileSource:
    values = {"sourceType": kind, "connectionParams": {"format": "csv", "path": str(path)}, **more}
    found = TypeAdapter(AnySource).validate_python(values)
    assert isinstance(found, FileSource)
    return found


@pytest.mark.parametrize("pattern", ["", "a.csv", "*.csv", "[ab].csv"])
def test_a_file_a_folder_or_a_pattern_is_something_to_read(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "a.csv").touch()

    source(f"{tmp_path}/{pattern}").fixed()


@pytest.mark.parametrize("pattern", ["b.csv", "*.json", "b/*"])
def test_nothing_to_read_is_refused(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "a.csv").touch()

    with pytest.raises(ConfigError, match="There is nothing to read at"):
        source(tmp_path / pattern).fixed()


def test_what_is_not_local_is_left_to_spark() -> None:
    source("s3a://bucket/orders", "S3").fixed()


def test_options_are_spelled_as_spark_spells_them() -> None:
    found = source("in", options={"header": True, "sep": ";", "samplingRatio": 0.5, "maxColumns": 9})

    assert found.spark_options() == {"header": "true", "sep": ";", "samplingRatio": "0.5", "maxColumns": "9"}


@pytest.mark.parametrize("kind", ["xml", "CSV", "", None])
def test_an_unknown_format_is_refused(kind: str | None) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(AnySource).validate_python(
            {"sourceType": "File", "connectionParams": {"format": kind, "path": "in"}}
        )


def test_what_will_be_read_is_one_line() -> None:
    assert source("in.csv").describe(None) == "csv files in.csv"
    assert source("in.csv").place == "in.csv"
