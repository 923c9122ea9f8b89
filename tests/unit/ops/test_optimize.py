from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from deltaworks.errors import ConfigError
from deltaworks.lake.table import open_table
from deltaworks.ops import optimize

if TYPE_CHECKING:
    from pathlib import Path

    from deltaworks.lake.table import Table


@pytest.fixture
def table(tmp_path: Path) -> Table:
    write_deltalake(tmp_path, pa.table({"id": [1], "day": ["a"]}), partition_by=["day"])
    return open_table(tmp_path)


def test_a_plan_says_what_it_would_do(table: Table) -> None:
    plan = optimize.plan(table, z_order=["id"], target_file_size=1024)

    assert (plan.version, plan.files, plan.target_file_size) == (0, 1, 1024)
    assert plan.to_sql() == f"OPTIMIZE delta.`{table.uri}` ZORDER BY (`id`)"
    assert optimize.plan(table).to_sql() == f"OPTIMIZE delta.`{table.uri}`"


@pytest.mark.parametrize(("column", "said"), [("x", "There is no column 'x'"), ("day", "'day' is a partition column")])
def test_a_column_that_rows_cannot_be_ordered_by_is_refused(table: Table, column: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        optimize.plan(table, z_order=[column])
