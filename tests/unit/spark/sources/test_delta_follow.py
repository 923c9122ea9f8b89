from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pydantic import TypeAdapter
from tests.unit.tables import append, by_hand, clean_up, commit_file

from deltaworks.errors import ConfigError
from deltaworks.lake.additions import Ignored
from deltaworks.lake.feed import OutsideFeedError
from deltaworks.lake.feed_columns import ColumnsChangedError
from deltaworks.lake.log import Log
from deltaworks.lake.travel import CleanedUpError
from deltaworks.spark.sources import AnySource
from deltaworks.spark.sources.delta import DeltaSource, DeltaSpan
from deltaworks.spark.sources.delta_follow import (
    DeltaPosition,
    GapError,
    StartAheadError,
    StartLostError,
    new_files,
    require_followable,
)

if TYPE_CHECKING:
    from pathlib import Path

FEED: dict[str, Any] = {"readChangeFeed": True}
NOTHING = Ignored()


def following(path: Path, **parameters: Any) -> DeltaSource:
    values = {"sourceType": "DeltaLake", "incremental": True, "connectionParams": {"path": str(path), **parameters}}
    found = TypeAdapter(AnySource).validate_python(values)
    assert isinstance(found, DeltaSource)
    return found


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Four versions that added rows, with a change feed."""
    for number in range(4):
        append(tmp_path, pa.table({"id": [number]}), properties={"delta.enableChangeDataFeed": "true"})
    return tmp_path


def vacuum(path: Path) -> None:
    DeltaTable(path).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)


# A start that the file names


@pytest.mark.parametrize("more", [{}, FEED])
def test_a_start_is_a_version_or_a_time(table: Path, more: dict[str, Any]) -> None:
    made = Log(str(table)).times()[2].isoformat()

    assert following(table, startingVersion=2, **more).beginning() == DeltaPosition(2).to_dict()
    assert following(table, startingTimestamp=made, **more).beginning() == DeltaPosition(2).to_dict()
    assert following(table, **more).beginning() == DeltaPosition(3, snapshot=True).to_dict()


@pytest.mark.parametrize("more", [{}, FEED])
def test_a_start_may_be_the_version_that_comes_next_and_none_behind_it(table: Path, more: dict[str, Any]) -> None:
    assert following(table, startingVersion=4, **more).beginning() == DeltaPosition(4).to_dict()
    with pytest.raises(StartAheadError, match="has no version 5 to start at: its newest is version 3") as caught:
        following(table, startingVersion=5, **more).beginning()

    assert caught.value.hint == "startingVersion: 4 reads only what comes."


def test_changes_can_only_come_where_they_are_recorded(tmp_path: Path) -> None:
    append(tmp_path)

    with pytest.raises(ConfigError, match="keeps no change feed"):
        following(tmp_path, startingVersion=1, **FEED).beginning()


def test_a_start_that_log_clean_up_took_says_where_one_can_be(table: Path) -> None:
    clean_up(table, before=2)

    with pytest.raises(StartLostError, match="from version 1 on: log clean-up removed version 1") as caught:
        following(table, startingVersion=1).beginning()

    assert caught.value.hint == "Start at versions 2 to 3; or leave the start out, for all rows there are now."
    assert following(table, startingVersion=2).beginning() == DeltaPosition(2).to_dict()


def test_a_time_before_log_clean_up_is_no_start_of_anything(table: Path) -> None:
    made = Log(str(table)).times()
    clean_up(table, before=2)
    first, last = made[0].isoformat(), made[3].isoformat()

    with pytest.raises(CleanedUpError):
        following(table, startingTimestamp=first).beginning()
    with pytest.raises(CleanedUpError):
        following(table, startingTimestamp=first, **FEED).beginning()
    with pytest.raises(CleanedUpError):
        following(table, **FEED).between(first, last).fixed()
    assert following(table, **FEED).between(made[2].isoformat(), last).fixed() == DeltaSpan(version=3, start=2)


def test_a_start_whose_rows_vacuum_took_says_where_one_can_be(table: Path) -> None:
    DeltaTable(table).optimize.compact()
    append(table, pa.table({"id": [9]}))
    vacuum(table)
    latest = DeltaTable(table).version()

    with pytest.raises(StartLostError, match="from version 1 on: vacuum removed files of version 1") as caught:
        following(table, startingVersion=1).beginning()

    assert caught.value.hint.startswith(f"Start at versions 4 to {latest};")
    assert following(table, startingVersion=4).beginning() == DeltaPosition(4).to_dict()


def test_a_start_before_the_feed_says_what_the_feed_has(tmp_path: Path) -> None:
    append(tmp_path)
    DeltaTable(tmp_path).alter.set_table_properties({"delta.enableChangeDataFeed": "true"})

    with pytest.raises(OutsideFeedError, match="has no version 0"):
        following(tmp_path, startingVersion=0, **FEED).beginning()


# Going on


def test_new_rows_that_vacuum_took_before_they_were_read_are_a_gap(table: Path) -> None:
    DeltaTable(table).optimize.compact()
    require_followable(Log(str(table)), DeltaPosition(2), feed=False, ignored=NOTHING)
    vacuum(table)

    with pytest.raises(GapError, match="vacuum removed files of version 2, which were not read yet") as caught:
        require_followable(Log(str(table)), DeltaPosition(2), feed=False, ignored=NOTHING)

    assert "--full-refresh" in caught.value.hint
    # Here all of version 3 was read, and there the whole table up to it.
    require_followable(Log(str(table)), DeltaPosition(3, index=0), feed=False, ignored=NOTHING)
    with pytest.raises(GapError, match=r"Version 3 of .* can no longer be read"):
        require_followable(Log(str(table)), DeltaPosition(3, snapshot=True), feed=False, ignored=NOTHING)


def test_a_table_that_was_made_shorter_is_a_gap(table: Path) -> None:
    with pytest.raises(GapError, match="it is at version 3 only, and versions up to 8 were read"):
        require_followable(Log(str(table)), DeltaPosition(9), feed=False, ignored=NOTHING)


# The files of new rows


def found(path: Path, start: int) -> list[tuple[int, int]]:
    """Which versions are read, and how many files of each."""
    log = Log(str(path))
    latest = DeltaTable(path).version()
    return [(each.version, len(each.files)) for each in new_files(log, DeltaPosition(start), latest, ignored=NOTHING)]


def test_new_files_are_read_where_they_are(table: Path) -> None:
    assert found(table, 1) == [(3, 3)]
    DeltaTable(table).optimize.compact()

    assert found(table, 1) == [(3, 3), (4, 0)]


def test_a_version_that_nothing_is_left_of_to_build_it_on_is_told(table: Path) -> None:
    DeltaTable(table).optimize.compact()
    append(table, pa.table({"id": [9]}))
    DeltaTable(table).create_checkpoint()
    for version in range(2):
        commit_file(table, version).unlink()

    with pytest.raises(StartLostError, match="from version 2 on: log clean-up removed what version 3 builds on"):
        found(table, 2)


def test_rows_with_a_column_that_was_renamed_since_are_refused(table: Path) -> None:
    DeltaTable(table).optimize.compact()
    [metadata] = [action for action in Log(str(table)).actions(0) if "metaData" in action]
    field = {"name": "number", "type": "long", "nullable": True, "metadata": {}}
    metadata["metaData"]["schemaString"] = json.dumps({"type": "struct", "fields": [field]})
    by_hand(table, metadata)

    with pytest.raises(
        ColumnsChangedError, match=r"The new rows of .* at version 3: column 'id' was renamed"
    ) as caught:
        found(table, 1)

    assert caught.value.hint == "Versions 4 to 5 can be read."
    assert found(table, 4) == [(5, 0)]
