from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable
from tests.unit.tables import append, commit_file, rewrite

from deltaworks.lake.feed import (
    FeedVacuumedError,
    NoFeedError,
    NothingBetweenError,
    OutsideFeedError,
    recorded_since,
    require_feed,
)
from deltaworks.lake.log import Log

if TYPE_CHECKING:
    from pathlib import Path

FEED = {"delta.enableChangeDataFeed": "true"}


def log(path: Path) -> Log:
    return Log(str(path))


@pytest.fixture
def switched(tmp_path: Path) -> Path:
    """A feed that was on at versions 2 and 3, and again from 6 to 8."""
    append(tmp_path)
    append(tmp_path)
    for on in ("true", "false", "true"):
        DeltaTable(tmp_path).alter.set_table_properties({"delta.enableChangeDataFeed": on})
        append(tmp_path)
    append(tmp_path)
    return tmp_path


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """A feed of an append, an update, a delete, an append and a rewrite that changes nothing."""
    append(tmp_path, properties=FEED)
    DeltaTable(tmp_path).update({"name": "'z'"}, predicate="id = 1")
    DeltaTable(tmp_path).delete("id = 2")
    append(tmp_path)
    DeltaTable(tmp_path).optimize.compact()
    return tmp_path


def test_a_feed_has_the_versions_at_which_it_was_on(switched: Path) -> None:
    assert recorded_since(log(switched), 0) == [2, 3, 6, 7, 8]
    assert recorded_since(log(switched), 3) == [3, 6, 7, 8]
    assert recorded_since(log(switched), 9) == []


@pytest.mark.parametrize(("start", "end"), [(2, 3), (3, 3), (6, 8)])
def test_a_range_inside_the_feed_is_accepted(switched: Path, start: int, end: int) -> None:
    require_feed(log(switched), start, end)


@pytest.mark.parametrize(
    ("start", "end", "lacking"),
    [(0, 3, 0), (2, 7, 4), (2, 5, 5), (6, 9, 9), (-1, 3, -1), (6, 10**15, 10**15), (9, 8, 9)],
)
def test_a_range_outside_the_feed_says_what_the_feed_has(switched: Path, start: int, end: int, lacking: int) -> None:
    times = log(switched).times()

    with pytest.raises(OutsideFeedError) as caught:
        require_feed(log(switched), start, end)

    assert str(caught.value) == f"The change feed of {switched} has no version {lacking}."
    first, last = (f"{times[version]:%Y-%m-%d %H:%M:%S.%f}Z" for version in (2, 8))
    assert caught.value.hint == f"It has versions 2 to 3 and 6 to 8, made from {first} to {last}."


def test_a_table_that_never_had_a_feed_says_how_to_have_one(tmp_path: Path) -> None:
    append(tmp_path)

    with pytest.raises(NoFeedError, match="keeps no change feed") as caught:
        require_feed(log(tmp_path), 0, 0)

    assert "enableChangeDataFeed: true" in caught.value.hint


def test_a_feed_reaches_back_to_the_commits_that_are_left(changed: Path) -> None:
    DeltaTable(changed).create_checkpoint()
    append(changed)
    append(changed)
    for version in range(5):
        commit_file(changed, version).unlink()

    assert recorded_since(log(changed), 0) == [5, 6]
    with pytest.raises(OutsideFeedError, match="has no version 4") as caught:
        require_feed(log(changed), 4, 6)
    assert caught.value.hint.startswith("It has versions 5 to 6, made from")


def test_a_feed_that_ends_before_it_starts_says_when_its_start_was(changed: Path) -> None:
    made = log(changed).times()[3]

    with pytest.raises(NothingBetweenError, match="would start at version 3 and end at 1") as caught:
        require_feed(log(changed), 3, 1)

    assert caught.value.hint == f"Version 3 was made at {made:%Y-%m-%d %H:%M:%S.%f}Z: end then or later."


@pytest.mark.parametrize("folder", ["_change_data", "."])
def test_a_feed_whose_files_are_gone_says_what_is_left(changed: Path, folder: str) -> None:
    require_feed(log(changed), 0, 4)
    newest = 2 if folder == "_change_data" else 3
    for file in (changed / folder).glob("*.parquet"):
        file.unlink()

    with pytest.raises(FeedVacuumedError) as caught:
        require_feed(log(changed), 0, 4)

    first = 1 if folder == "_change_data" else 0
    assert f"can no longer be read at version {first}: vacuum removed its files" in str(caught.value)
    assert caught.value.hint.startswith(f"It has {'versions 3 to 4' if newest == 2 else 'version 4'}, made from")
    require_feed(log(changed), newest + 1, 4)


def test_a_feed_of_which_nothing_is_left_says_so(tmp_path: Path) -> None:
    append(tmp_path, properties=FEED)
    for file in tmp_path.glob("*.parquet"):
        file.unlink()

    with pytest.raises(FeedVacuumedError) as caught:
        require_feed(log(tmp_path), 0, 0)

    assert caught.value.hint == "Nothing is left of it; read the table itself."


def test_a_feed_needs_no_engine_that_understands_the_table(tmp_path: Path) -> None:
    append(tmp_path, properties=FEED)
    rewrite(tmp_path, 1, json.dumps({"protocol": {"minReaderVersion": 99, "minWriterVersion": 99}}))

    require_feed(log(tmp_path), 0, 1)
