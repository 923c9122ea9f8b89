from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pydantic import TypeAdapter, ValidationError
from tests.unit.tables import append, commit_file, rewrite

from deltaworks.errors import ConfigError
from deltaworks.lake.table import open_table
from deltaworks.spark.sources import AnySource
from deltaworks.spark.sources.delta import DeltaSource, DeltaSpan

if TYPE_CHECKING:
    from pathlib import Path

FEED = {"readChangeFeed": "true", "startingVersion": "0"}


def source(path: object = "orders", **parameters: Any) -> DeltaSource:
    found = TypeAdapter(AnySource).validate_python(
        {"sourceType": "DeltaLake", "connectionParams": {"path": str(path), **parameters}}
    )
    assert isinstance(found, DeltaSource)
    return found


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Three versions with a change feed."""
    append(tmp_path / "orders", properties={"delta.enableChangeDataFeed": "true"})
    append(tmp_path / "orders")
    append(tmp_path / "orders")
    return tmp_path / "orders"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"versionAsOf": 1, "timestampAsOf": "2024-01-01"}, "versionAsOf and timestampAsOf are both given"),
        (FEED | {"startingTimestamp": "2024-01-01"}, "startingVersion and startingTimestamp are both given"),
        (
            FEED | {"endingVersion": 1, "endingTimestamp": "2024-01-01"},
            "endingVersion and endingTimestamp are both given",
        ),
        ({"startingVersion": 1}, "startingVersion is for a change feed only"),
        ({"endingTimestamp": "2024-01-01"}, "endingTimestamp is for a change feed only"),
        (FEED | {"versionAsOf": 1}, "versionAsOf does not go with readChangeFeed"),
        ({"readChangeFeed": True}, "A change feed needs a start"),
        ({"readChangeFeed": True, "endingVersion": 1}, "A change feed needs a start"),
        (FEED | {"startingVersion": 3, "endingVersion": 2}, "startingVersion 3 comes after endingVersion 2"),
        (
            {"readChangeFeed": True, "startingTimestamp": "2024-02-01", "endingTimestamp": "2024-01-01 12:00+01:00"},
            "startingTimestamp 2024-02-01 00:00:00+00:00 comes after endingTimestamp 2024-01-01 12:00:00+01:00",
        ),
        ({"ignoreDeletes": True}, "ignoreDeletes is for a change feed or an incremental read only"),
        ({"ignoreChanges": "true"}, "ignoreChanges is for a change feed or an incremental read only"),
        ({"versionAsOf": 1, "ignoreDeletes": True}, "ignoreDeletes is for a change feed or an incremental read only"),
        ({"ignoreDeletes": "yes"}, "'yes' is neither true nor false"),
        ({"timestampAsOf": "yesterday"}, "'yesterday' is not a time"),
        ({"versionAsOf": "latest"}, "'latest' is not a whole number"),
        ({"readChangeFeed": "yes"}, "'yes' is neither true nor false"),
        ({"format": "parquet"}, "Input should be 'delta'"),
    ],
)
def test_a_past_that_cannot_be_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(message)):
        source(**parameters)


def test_the_latest_version_is_pinned_when_the_run_begins(table: Path) -> None:
    span = source(table).fixed()
    append(table)

    assert span == DeltaSpan(version=2)


@pytest.mark.parametrize("version", [0, "1", 2])
def test_an_earlier_version_is_pinned(table: Path, version: object) -> None:
    assert source(table, versionAsOf=version).fixed() == DeltaSpan(version=int(str(version)))


def test_a_time_is_pinned_as_the_version_there_was(table: Path) -> None:
    made = open_table(table).log.times()

    assert source(table, timestampAsOf=made[1].isoformat()).fixed() == DeltaSpan(version=1)


def test_a_version_that_does_not_exist_says_which_do(table: Path) -> None:
    with pytest.raises(ConfigError, match=r"Version 7 of .* does not exist") as caught:
        source(table, versionAsOf=7).fixed()

    assert caught.value.hint == "Versions 0 to 2 do."


def test_a_time_before_the_table_says_which_times_there_are(table: Path) -> None:
    with pytest.raises(ConfigError, match="has no version for 2001-01-01") as caught:
        source(table, timestampAsOf="2001-01-01").fixed()

    assert "Its versions 0 to 2 were made from" in caught.value.hint


def test_a_path_that_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is no Delta table at"):
        source(tmp_path).fixed()


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"startingVersion": 1}, DeltaSpan(version=2, start=1)),
        ({"startingVersion": 0, "endingVersion": 1}, DeltaSpan(version=1, start=0)),
        ({"startingTimestamp": "2001-01-01"}, DeltaSpan(version=2, start=0)),
        ({"startingVersion": 0, "endingTimestamp": "2999-01-01"}, DeltaSpan(version=2, start=0)),
    ],
)
def test_both_ends_of_a_feed_are_pinned(table: Path, bounds: dict[str, Any], expected: DeltaSpan) -> None:
    assert source(table, readChangeFeed=True, **bounds).fixed() == expected


@pytest.mark.parametrize("bounds", [{"startingVersion": 7}, {"startingVersion": 0, "endingVersion": 7}])
def test_a_feed_over_versions_that_do_not_exist_says_which_do(table: Path, bounds: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"The change feed of .* has no version 7") as caught:
        source(table, readChangeFeed=True, **bounds).fixed()

    assert caught.value.hint.startswith("It has versions 0 to 2, made from")


def test_what_to_leave_out_goes_with_a_feed_and_with_an_incremental_read() -> None:
    ignored = {"ignoreDeletes": True, "ignoreChanges": "true"}
    incremental = {"sourceType": "DeltaLake", "incremental": {}, "connectionParams": {"path": "orders", **ignored}}

    assert source(**FEED, **ignored).ignore_deletes
    assert TypeAdapter(AnySource).validate_python(incremental).incremental is not None


def test_a_version_that_vacuum_removed_says_which_are_left(table: Path) -> None:
    DeltaTable(table).delete()
    DeltaTable(table).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)

    with pytest.raises(ConfigError, match="vacuum removed 2 of its files") as caught:
        source(table, versionAsOf=1).fixed()

    assert caught.value.hint == "Versions 3 to 5 can be read."
    assert source(table).fixed() == DeltaSpan(version=5)


def test_a_feed_that_vacuum_removed_says_what_is_left(table: Path) -> None:
    DeltaTable(table).delete()
    DeltaTable(table).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)

    with pytest.raises(ConfigError, match="can no longer be read at version 0: vacuum removed its files") as caught:
        source(table, **FEED).fixed()

    first = int(re.findall(r"\d+", caught.value.hint)[0])
    assert source(table, readChangeFeed=True, startingVersion=first).fixed() == DeltaSpan(version=5, start=first)


def test_a_time_of_a_version_that_log_cleanup_took_says_which_are_left(table: Path) -> None:
    made = open_table(table).log.times()[1]
    DeltaTable(table).create_checkpoint()
    append(table)
    commit_file(table, 0).unlink()

    with pytest.raises(ConfigError, match="Version 1 of") as caught:
        source(table, timestampAsOf=made.isoformat()).fixed()

    assert caught.value.hint == "Versions 2 to 3 do."


@pytest.mark.parametrize("parameters", [{}, {"versionAsOf": 0}, FEED])
def test_a_table_that_delta_rs_cannot_open_is_pinned_too(table: Path, parameters: dict[str, Any]) -> None:
    rewrite(table, 3, json.dumps({"protocol": {"minReaderVersion": 99, "minWriterVersion": 99}}))

    with pytest.raises(DeltaError):
        DeltaTable(table).to_pyarrow_table()
    assert source(table, **parameters).fixed().version == (0 if "versionAsOf" in parameters else 3)


def test_a_feed_that_starts_after_the_last_change_is_refused(table: Path) -> None:
    late = max(open_table(table).log.times().values()) + timedelta(hours=1)

    with pytest.raises(ConfigError, match="has no version for"):
        source(table, readChangeFeed=True, startingTimestamp=late.isoformat()).fixed()


def test_a_table_without_a_feed_is_refused(tmp_path: Path) -> None:
    append(tmp_path)

    with pytest.raises(ConfigError, match="keeps no change feed") as caught:
        source(tmp_path, **FEED).fixed()

    assert "enableChangeDataFeed" in caught.value.hint


def test_what_will_be_read_is_one_line() -> None:
    assert source("orders").describe(DeltaSpan(version=3)) == "Delta table orders, version 3"
    assert source("orders").describe(DeltaSpan(version=3, start=1)) == "changes of Delta table orders, versions 1 to 3"
    assert source("orders").place == "orders"
