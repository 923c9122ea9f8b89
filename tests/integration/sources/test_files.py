from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.rows import collected

import deltaworks
from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def test_a_pattern_reads_every_file_it_matches(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"id\n{name}\n")
    (tmp_path / "c.txt").write_text("id\nc\n")
    config = {"sourceType": "File", "connectionParams": {"format": "csv", "path": str(tmp_path / "*.csv")}}

    rows = deltaworks.extract({**config, "options": {"header": True}}, spark=spark)

    assert collected(rows) == [{"id": "a"}, {"id": "b"}]


@pytest.mark.parametrize("name", ["nothing.csv", "*.csv"])
def test_a_path_without_files_is_refused(spark: SparkSession, tmp_path: Path, name: str) -> None:
    config = {"sourceType": "File", "connectionParams": {"format": "csv", "path": str(tmp_path / name)}}

    with pytest.raises(ConfigError, match="There is nothing to read at"):
        deltaworks.extract(config, spark=spark)
