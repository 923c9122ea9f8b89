"""A table we cannot write as it asks is refused before any file is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import frame
from tests.integration.sinks.loads import landed, load

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

MODES: list[tuple[str, dict[str, Any]]] = [("Append", {}), ("Overwrite", {}), ("Upsert", {"mergeKeys": "id"})]


def ask_for(feature: str, table: Path) -> None:
    """Let the table's protocol ask writers for a feature."""
    log = table / "_delta_log/00000000000000000000.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        if "protocol" in action:
            action["protocol"] = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": [feature]}
    log.write_text("\n".join(map(json.dumps, actions)) + "\n")
    log.with_name(f".{log.name}.crc").unlink(missing_ok=True)
    (log.parent / "00000000000000000000.crc").unlink(missing_ok=True)


@pytest.mark.parametrize(("mode", "params"), MODES)
def test_a_feature_from_the_future_is_refused_and_nothing_is_written(
    spark: SparkSession, tmp_path: Path, mode: str, params: dict[str, Any]
) -> None:
    landed(load(frame(spark, {"id": 1}), tmp_path / "made", "Append"))
    (tmp_path / "made").rename(tmp_path / "t")  # a path that Spark has not seen yet
    ask_for("timeMachine", tmp_path / "t")
    before = sorted(tmp_path.rglob("*.parquet"))

    refused = load(frame(spark, {"id": 2}), tmp_path / "t", mode, **params)

    assert not refused.success
    assert "timeMachine" in (refused.error or "")
    assert sorted(tmp_path.rglob("*.parquet")) == before


@pytest.mark.parametrize("mode", ["Overwrite", "Upsert"])
def test_a_table_that_only_grows_is_not_changed(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    rows = frame(spark, {"id": 1, "n": 1})
    landed(load(rows, tmp_path / "t", "Append", tableProperties={"delta.appendOnly": True}))

    keys: dict[str, Any] = {"mergeKeys": "id"} if mode == "Upsert" else {}
    refused = load(frame(spark, {"id": 1, "n": 2}), tmp_path / "t", mode, **keys)

    assert not refused.success
    assert "only allow appends" in (refused.error or "")
    landed(load(rows, tmp_path / "t", "Append"))


def test_a_check_of_the_table_itself_fails_the_load_and_nothing_lands(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(frame(spark, {"id": 1}), tmp_path / "t", "Append"))
    spark.sql(f"ALTER TABLE delta.`{tmp_path}/t` ADD CONSTRAINT positive CHECK (id > 0)")

    refused = load(frame(spark, {"id": 2}, {"id": -2}), tmp_path / "t", "Append")

    assert "positive" in (refused.error or "")
    assert spark.read.format("delta").load(str(tmp_path / "t")).count() == 1
