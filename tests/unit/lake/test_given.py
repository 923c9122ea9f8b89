from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic_core import PydanticCustomError

from deltaworks.lake.given import check_given, given

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "id BIGINT, name STRING"


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "c.ddl").write_text("id: long not null,\n name: string -- of the customer\n")
    return str(tmp_path / "c.ddl")


def test_columns_are_said_in_the_pipeline_file_or_beside_it_or_nowhere(file: str) -> None:
    for found in (given(TEXT, None), given(None, file)):
        assert found is not None
        assert found.has("name")
    assert given(None, None) is None


def test_the_same_may_be_said_in_both_places(file: str) -> None:
    check_given(TEXT, file, "csv")
    check_given(TEXT, None, "csv")
    check_given(None, None, "csv")


@pytest.mark.parametrize("text", ["id BIGINT", "name STRING, id BIGINT", "id INT, name STRING"])
def test_different_columns_in_both_places_are_refused(file: str, text: str) -> None:
    with pytest.raises(PydanticCustomError, match="say different columns"):
        check_given(text, file, "csv")


def test_an_avro_schema_is_for_avro_files(tmp_path: Path) -> None:
    path = tmp_path / "c.avsc"
    path.write_text('{"type": "record", "name": "order", "fields": [{"name": "id", "type": "long"}]}')

    check_given(None, str(path), "avro")
    with pytest.raises(PydanticCustomError, match="does not go with format: csv"):
        check_given(None, str(path), "csv")
    with pytest.raises(PydanticCustomError, match="say different columns"):
        check_given(TEXT, str(path), "avro")
