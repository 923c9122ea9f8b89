from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.tables import append

from deltaworks.errors import RefusedError
from deltaworks.lake.table import open_table
from deltaworks.ops import vacuum

if TYPE_CHECKING:
    from pathlib import Path


def test_a_plan_says_what_it_would_do(tmp_path: Path) -> None:
    append(tmp_path)

    plan = vacuum.plan(open_table(tmp_path), 168)

    assert plan.to_sql() == f"VACUUM delta.`{tmp_path}` RETAIN 168 HOURS"


@pytest.mark.parametrize(
    ("hours", "kept"), [(167, None), (23, "interval 1 day"), (100, "interval 1 week"), (35, "interval 1 days 12 hours")]
)
def test_a_retention_shorter_than_the_tables_own_is_refused(hours: int, kept: str | None) -> None:
    properties = {vacuum.RETENTION: kept} if kept else {}

    with pytest.raises(RefusedError, match=f"vacuumRetentionHours is {hours}, but files are kept for"):
        vacuum.require_safe(hours, properties)


@pytest.mark.parametrize(("hours", "kept"), [(168, None), (24, "interval 1 day"), (0, "interval 0 hours")])
def test_a_retention_that_the_table_allows_is_fine(hours: int, kept: str | None) -> None:
    vacuum.require_safe(hours, {vacuum.RETENTION: kept} if kept else {})
