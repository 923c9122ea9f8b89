"""Rows that are kept in files while a load looks at them more than once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import deltaworks
from deltaworks.spark.batch import NotSharedError, staged
from deltaworks.vault.storage import Access
from tests.integration.increments import meanwhile
from tests.integration.rows import collected, stored
from tests.integration.sinks.jdbc_loads import from_table

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.servers.database import TestDatabase

pytestmark = pytest.mark.usefixtures("elsewhere")


def folders(around: Path) -> list[Path]:
    """Where rows are kept just now."""
    return sorted(around.glob(".*staging*"))


def test_rows_of_which_some_were_written_to_another_disk_are_refused_and_none_lands(
    spark: SparkSession, tmp_path: Path, pg: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def another_disk() -> None:
        (folder,) = folders(tmp_path)
        next(folder.glob("part-*")).unlink()

    uneven = {"type": "withColumn", "parameters": {"name": "n", "expression": "rand()"}}
    load = pg.sink(table="t", asidePath=str(tmp_path / "aside"))
    rule = {"name": "small", "check": "id < 9", "onFailure": "setAside"}
    pipeline = from_table(spark.range(0, 10, 1, 2), tmp_path, load=load, expect=[rule], transform=[uneven])
    meanwhile(monkeypatch, "staged", another_disk)

    with pytest.raises(NotSharedError, match=r"10 rows were written to .*, and \d are there") as told:
        deltaworks.run(pipeline, spark=spark, vault=pg.vault())

    assert "asidePath" in told.value.hint
    assert folders(tmp_path) == []
    deltaworks.run(pipeline, spark=spark, vault=pg.vault())
    assert pg.rows("SELECT count(*) FROM t") == [(9,)]
    assert len(stored(tmp_path / "aside")) == 1


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_rows_are_kept_as_they_are_under_a_name_that_no_others_have(
    spark: SparkSession, tmp_path: Path, count: int
) -> None:
    rows = spark.range(0, count, 1, 3).selectExpr("id", "uuid() AS n")

    def scratch(own: str) -> str:
        return f"{tmp_path}/.t.{own}.staging"

    with staged(rows, scratch, Access()) as some, staged(rows, scratch, Access()) as more:
        assert len(folders(tmp_path)) == 2
        assert collected(some) == collected(some)
        assert (some.count(), more.count()) == (count, count)
    assert folders(tmp_path) == []
