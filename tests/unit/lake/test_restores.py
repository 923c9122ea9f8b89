from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.tables import append, clean_up, restore

from deltaworks.lake.log import Log
from deltaworks.lake.restores import standing, still_there
from deltaworks.lake.table import open_table

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Three appends, the last taken back, one more, all that taken back, and that in its turn."""
    for _ in range(3):
        append(tmp_path)  # 0, 1, 2
    restore(tmp_path, 1)  # 3
    append(tmp_path)  # 4
    restore(tmp_path, 0)  # 5
    restore(tmp_path, 4)  # 6
    return tmp_path


def versions(path: Path, at: int) -> list[int]:
    return [found.version for found in standing(Log(str(path)), at)]


@pytest.mark.parametrize(
    ("at", "expected"),
    [(0, [0]), (2, [2, 1, 0]), (3, [1, 0]), (4, [4, 1, 0]), (5, [0]), (6, [4, 1, 0])],
)
def test_the_commits_that_stand_are_those_whose_rows_are_there(table: Path, at: int, expected: list[int]) -> None:
    assert versions(table, at) == expected


def test_what_stands_is_still_there_with_the_restores_that_led_to_it(table: Path) -> None:
    there = [version for version in range(7) if still_there(open_table(table), version)]

    assert there == [0, 1, 3, 4, 6]


def test_nothing_stands_of_a_log_that_is_not_there(tmp_path: Path) -> None:
    assert versions(tmp_path, 7) == []


def test_what_stands_ends_where_the_log_does(table: Path) -> None:
    clean_up(table, before=4)

    assert versions(table, 6) == [4]
    assert versions(table, 5) == []
