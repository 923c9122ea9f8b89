from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable
from pyarrow import compute, parquet
from tests.unit.tables import append, commit_file, rewrite

from deltaworks.lake.log import DamagedLogError, Log
from deltaworks.lake.metadata import Metadata, metadata_at, metadata_in
from deltaworks.lake.schema import columns

if TYPE_CHECKING:
    from pathlib import Path

FEED = {"delta.enableChangeDataFeed": "true"}
BOTH = FEED | {"delta.appendOnly": "true"}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Properties set at the start and once more at version 2; six versions, a checkpoint at the fourth."""
    append(tmp_path, properties=FEED)
    append(tmp_path)
    DeltaTable(tmp_path).alter.set_table_properties({"delta.appendOnly": "true"})
    append(tmp_path)
    DeltaTable(tmp_path).create_checkpoint()
    append(tmp_path)
    append(tmp_path)
    return tmp_path


def cleaned_up(table: Path) -> Path:
    """The table without the commits its checkpoint stands for."""
    for version in range(4):
        commit_file(table, version).unlink()
    return table


@pytest.mark.parametrize("version", range(6))
def test_metadata_is_that_of_the_version(table: Path, version: int) -> None:
    delta = DeltaTable(table, version=version)

    found = metadata_at(Log(str(table)), version)

    assert found.properties == (FEED if version < 2 else BOTH) == delta.metadata().configuration
    assert columns(found.schema_json) == columns(delta.schema().to_json())


@pytest.mark.parametrize("version", [3, 4, 5])
def test_a_checkpoint_knows_the_metadata_when_the_commits_are_gone(table: Path, version: int) -> None:
    expected = metadata_at(Log(str(table)), version)

    assert metadata_at(Log(str(cleaned_up(table))), version) == expected


def test_a_checkpoint_may_be_in_several_parts(table: Path) -> None:
    whole = commit_file(cleaned_up(table), 3, "checkpoint.parquet")
    rows = parquet.read_table(whole)
    whole.unlink()
    told = compute.is_valid(rows["metaData"])
    for part, kept in enumerate((rows.filter(compute.invert(told)), rows.filter(told)), start=1):
        parquet.write_table(kept, table / "_delta_log" / f"{3:020}.checkpoint.{part:010}.{2:010}.parquet")

    assert metadata_at(Log(str(table)), 5).properties == BOTH


def test_a_checkpoint_may_be_json(table: Path) -> None:
    commit_file(cleaned_up(table), 3, "checkpoint.parquet").unlink()
    name = f"{3:020}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"
    (table / "_delta_log" / name).write_text(json.dumps({"metaData": {"configuration": FEED, "schemaString": "{}"}}))

    assert metadata_at(Log(str(table)), 5) == Metadata(properties=FEED, schema_json="{}")


def test_a_damaged_checkpoint_is_named(table: Path) -> None:
    commit_file(cleaned_up(table), 3, "checkpoint.parquet").write_bytes(b"no Parquet at all")

    with pytest.raises(DamagedLogError, match=r"00000000000000000003\.checkpoint\.parquet"):
        metadata_at(Log(str(table)), 5)


def test_a_table_no_engine_understands_still_has_metadata(tmp_path: Path) -> None:
    append(tmp_path, properties=FEED)
    rewrite(tmp_path, 1, json.dumps({"protocol": {"minReaderVersion": 99, "minWriterVersion": 99}}))

    assert metadata_at(Log(str(tmp_path)), 1).properties == FEED


def test_a_log_that_says_nothing_has_no_properties_and_no_columns(tmp_path: Path) -> None:
    append(tmp_path)
    rewrite(tmp_path, 0, json.dumps({"commitInfo": {}}))

    found = metadata_at(Log(str(tmp_path)), 0)

    assert found.properties == {}
    assert columns(found.schema_json) == ()


def test_only_metadata_that_was_written_down_counts() -> None:
    assert metadata_in([{"metaData": {"schemaString": "{}"}}]) == Metadata(schema_json="{}")
    assert metadata_in([{"commitInfo": {}}, {"metaData": None}]) is None
