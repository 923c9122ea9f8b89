from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest
from tests.unit.tables import append, commit_file, rewrite

from deltaworks.errors import ConfigError
from deltaworks.lake.log import Log
from deltaworks.lake.travel import CleanedUpError, NoVersionThenError, first_version_since, instant, version_at

if TYPE_CHECKING:
    from pathlib import Path

NOON = datetime(2024, 1, 31, 12, tzinfo=UTC)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """Three versions, made at noon, one and two o'clock."""
    append(tmp_path)
    for version in range(3):
        made = int((NOON + timedelta(hours=version)).timestamp() * 1000)
        rewrite(tmp_path, version, json.dumps({"commitInfo": {"timestamp": made}}))
    return Log(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-31 12:00:00", NOON),
        ("2024-01-31T12:00:00Z", NOON),
        ("2024-01-31T13:00:00+01:00", NOON),
        (" 2024-01-31 12:00 ", NOON),
        ("2024-01-31", NOON.replace(hour=0)),
        ("2024-01-31 12:00:00.5", NOON.replace(microsecond=500_000)),
    ],
)
def test_a_time_without_a_zone_is_utc(text: str, expected: datetime) -> None:
    assert instant(text) == expected


def test_a_time_given_as_a_time_stays() -> None:
    assert instant(datetime(2024, 1, 31, 12)) == NOON
    assert instant(datetime(2024, 1, 31, 14, tzinfo=timezone(timedelta(hours=2)))) == NOON


@pytest.mark.parametrize("text", ["", "yesterday", "2024-13-01", "31.01.2024", "1706702400000"])
def test_what_is_no_time_is_refused_with_how_to_write_one(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a time") as caught:
        instant(text)

    assert "2024-01-31 12:00:00" in caught.value.hint


@pytest.mark.parametrize(("hours", "expected"), [(0, 0), (0.5, 0), (1, 1), (2, 2), (100, 2)])
def test_a_time_finds_the_version_the_table_had(log: Log, hours: float, expected: int) -> None:
    assert version_at(log, NOON + timedelta(hours=hours)) == expected


@pytest.mark.parametrize(("hours", "expected"), [(-100, 0), (0, 0), (0.5, 1), (2, 2)])
def test_a_start_finds_the_first_version_since(log: Log, hours: float, expected: int) -> None:
    assert first_version_since(log, NOON + timedelta(hours=hours)) == expected


def test_a_start_before_log_clean_up_is_refused_and_one_since_is_not(log: Log, tmp_path: Path) -> None:
    commit_file(tmp_path, 0).unlink()

    with pytest.raises(CleanedUpError) as caught:
        first_version_since(log, NOON + timedelta(minutes=30))

    assert str(caught.value) == (
        f"{tmp_path} cannot be read from 2024-01-31 12:30:00+00:00 on: log clean-up removed what came before version "
        "1, made at 2024-01-31 13:00:00.000000Z."
    )
    assert caught.value.hint.startswith("Name that version, startingVersion: 1, or a later time.")
    assert first_version_since(log, NOON + timedelta(hours=1)) == 1
    assert first_version_since(log, NOON + timedelta(hours=1, minutes=1)) == 2


def test_a_time_before_the_table_says_which_times_there_are(log: Log) -> None:
    with pytest.raises(NoVersionThenError) as caught:
        version_at(log, NOON - timedelta(seconds=1))

    assert "has no version for 2024-01-31 11:59:59+00:00" in str(caught.value)
    assert caught.value.hint == (
        "Its versions 0 to 2 were made from 2024-01-31 12:00:00.000000Z to 2024-01-31 14:00:00.000000Z."
    )


def test_a_start_after_the_last_version_is_refused(log: Log) -> None:
    with pytest.raises(NoVersionThenError):
        first_version_since(log, NOON + timedelta(hours=3))
