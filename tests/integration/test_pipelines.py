"""Whole pipelines, from files and tables to tables and files, as people would write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import deltaworks
from deltaworks.errors import DeltaworksError
from deltaworks.lake.table import open_table
from tests.integration.rows import both, collected, frame, stored

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def delta(path: str, **params: Any) -> dict[str, Any]:
    return {"sourceType": "DeltaLake", "connectionParams": {"path": path, **params}}


def into(path: str, **params: Any) -> dict[str, Any]:
    return {"sinkType": "DeltaLake", "connectionParams": {"path": path, **params}}


def pipeline(extract: dict[str, Any], load: dict[str, Any], mode: str, *steps: dict[str, Any], **more: Any) -> Any:
    return {
        "pipelineId": "whole",
        "extract": extract,
        "transform": [{"type": step.pop("type"), "parameters": step} for step in steps],
        "load": load,
        "writeMode": mode,
        **more,
    }


def test_parquet_files_are_appended_whole_or_not_at_all(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(100).selectExpr("id", "id * 10 AS amount").write.parquet(str(tmp_path / "in"))
    files = {"sourceType": "File", "connectionParams": {"format": "parquet", "path": "in"}}
    good = pipeline(files, into("t"), "Append", {"type": "filter", "condition": "id >= 50"})
    bad = pipeline(
        files, into("t"), "Append", {"type": "withColumn", "name": "amount", "expression": "amount / (id - 99)"}
    )
    bad["transform"].append({"type": "cast", "parameters": {"columns": {"amount": "bigint"}}})

    first = deltaworks.run(good, spark=spark)
    with pytest.raises(DeltaworksError):
        deltaworks.run(bad, spark=spark)

    assert (first.load.rows_read, first.load.rows_inserted) == (50, 50)
    assert open_table(tmp_path / "t").version == 0
    assert len(both(spark, tmp_path / "t")) == 50


def test_a_table_is_upserted_from_another(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(1, 101).selectExpr("id", "concat('user_', id) AS name", "id * 10 AS amount")
    rows.write.format("delta").save(str(tmp_path / "users"))
    updates = spark.range(51, 151).selectExpr("id", "concat('user_', id) AS name", "id * 20 AS amount")
    updates.write.format("delta").save(str(tmp_path / "updates"))

    config = pipeline(
        delta("updates"),
        into("users", mergeKeys='["id"]'),
        "Upsert",
        {"type": "withColumn", "name": "amount", "expression": "IF(id > 100, id * 10, amount)"},
    )
    load = deltaworks.run(config, spark=spark).load

    found = {row["id"]: row["amount"] for row in both(spark, tmp_path / "users")}
    assert (load.rows_read, load.rows_inserted, load.rows_updated) == (100, 50, 50)
    assert found == {number: number * (20 if 51 <= number <= 100 else 10) for number in range(1, 151)}


def test_history_is_reported_into_files(spark: SparkSession, tmp_path: Path) -> None:
    for number in (1, 2):
        rows = frame(spark, *({"id": each, "country": "de"} for each in range(number)))
        rows.write.format("delta").mode("overwrite").save(str(tmp_path / "users"))
    counts = [{"column": "id", "function": "count", "alias": "users"}]
    report = {"sinkType": "File", "connectionParams": {"format": "parquet", "path": "report"}}
    step = {"type": "aggregation", "groupBy": '["country"]', "aggregations": counts}

    deltaworks.run(pipeline(delta("users", versionAsOf="0"), report, "Overwrite", step), spark=spark)

    assert collected(spark.read.parquet(str(tmp_path / "report"))) == [{"country": "de", "users": 1}]


def test_columns_come_and_old_rows_and_old_versions_stay(spark: SparkSession, tmp_path: Path) -> None:
    frame(spark, {"id": 1}).write.format("delta").save(str(tmp_path / "first"))
    frame(spark, {"id": 2, "email": "a@b"}).write.format("delta").save(str(tmp_path / "second"))

    deltaworks.run(pipeline(delta("first"), into("t"), "Append"), spark=spark)
    deltaworks.run(pipeline(delta("second"), into("t", mergeSchema="true"), "Append"), spark=spark)
    deltaworks.run(pipeline(delta("t", versionAsOf=0), into("old"), "Append"), spark=spark)

    assert both(spark, tmp_path / "t") == [{"id": 1, "email": None}, {"id": 2, "email": "a@b"}]
    assert stored(tmp_path / "old") == [{"id": 1}]


def test_the_changes_of_a_table_become_a_table(spark: SparkSession, tmp_path: Path) -> None:
    frame(spark, {"id": 1, "n": 1}, {"id": 2, "n": 1}).write.format("delta").save(str(tmp_path / "in"))
    deltaworks.run(pipeline(delta("in"), into("t", enableChangeDataFeed=True), "Append"), spark=spark)
    frame(spark, {"id": 2, "n": 5}, {"id": 3, "n": 5}).write.format("delta").mode("overwrite").save(
        str(tmp_path / "in")
    )
    deltaworks.run(pipeline(delta("in"), into("t", mergeKeys="id"), "Upsert"), spark=spark)

    feed = delta("t", readChangeFeed=True, startingVersion=1, ignoreDeletes=True)
    deltaworks.run(
        pipeline(feed, into("changes"), "Append", {"type": "select", "columns": ["id", "n", "_change_type"]}),
        spark=spark,
    )

    assert sorted((row["_change_type"], row["id"], row["n"]) for row in both(spark, tmp_path / "changes")) == [
        ("insert", 3, 5),
        ("update_postimage", 2, 5),
        ("update_preimage", 2, 1),
    ]


def test_rows_meet_other_inputs_before_they_land(spark: SparkSession, tmp_path: Path) -> None:
    frame(spark, {"id": 1, "currency": "usd", "amount": 10.0}).write.format("delta").save(str(tmp_path / "orders"))
    frame(spark, {"currency": "usd", "rate": 0.5}).write.format("delta").save(str(tmp_path / "rates"))
    config = pipeline(
        delta("orders"),
        into("t", mergeKeys="id"),
        "Upsert",
        {"type": "join", "input": "rates", "on": "currency", "how": "left", "broadcast": True},
        {"type": "sql", "query": "SELECT i.id, i.amount * r.rate AS eur FROM input i, rates r", "inputs": ["rates"]},
        inputs={"rates": {**delta("rates"), "cache": True}},
    )

    load = deltaworks.run(config, spark=spark).load

    assert load.rows_inserted == 1
    assert both(spark, tmp_path / "t") == [{"id": 1, "eur": 5.0}]


def test_an_input_kept_in_memory_is_let_go_after_the_run_unless_it_was_kept_before(
    spark: SparkSession, tmp_path: Path
) -> None:
    for name in ("orders", "rates"):
        frame(spark, {"id": 1}).write.format("delta").save(str(tmp_path / name))
    inputs = {"rates": {**delta("rates"), "cache": True}}
    join = {"type": "join", "input": "rates", "on": "id"}
    config = pipeline(delta("orders"), into("t"), "Append", join, inputs=inputs)
    rates = spark.read.format("delta").option("versionAsOf", 0).load(str(tmp_path / "rates"))

    deltaworks.run(config, spark=spark)
    assert not rates.storageLevel.useMemory

    rates.cache()
    deltaworks.run(config, spark=spark)
    assert rates.storageLevel.useMemory
    rates.unpersist()


def test_rows_that_their_owner_keeps_in_memory_stay_there_when_they_are_loaded(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = frame(spark, {"id": 1}).cache()

    result = deltaworks.load(rows, into(str(tmp_path / "t"), mergeKeys="id"), "Upsert")

    assert result.success
    assert rows.storageLevel.useMemory
    rows.unpersist()


def test_a_rollback_after_a_failure_leaves_a_merge_undone(spark: SparkSession, tmp_path: Path) -> None:
    frame(spark, {"id": 1, "n": 1}).write.format("delta").save(str(tmp_path / "t"))
    spark.range(1000).selectExpr("id", "id AS n").write.format("delta").save(str(tmp_path / "in"))
    boom = {"type": "withColumn", "name": "n", "expression": "IF(id = 999, raise_error('boom'), n)"}

    result = deltaworks.run(pipeline(delta("in"), into("t", mergeKeys="id"), "Upsert", boom), spark=spark, check=False)

    assert not result.success
    assert "boom" in (result.load.error or "")
    assert open_table(tmp_path / "t").version == 0
    assert both(spark, tmp_path / "t") == [{"id": 1, "n": 1}]


def test_a_plan_says_which_files_an_upsert_can_touch_and_that_bad_keys_would_be_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    for start in (0, 100, 200):
        part = spark.range(start, start + 100).coalesce(1)
        part.write.format("delta").mode("append").save(str(tmp_path / "t"))
    spark.range(120, 130).write.format("delta").save(str(tmp_path / "in"))
    config = pipeline(delta("in"), into("t", mergeKeys="id"), "Upsert", expect=[{"name": "low", "check": "id < 500"}])
    (tmp_path / "pipeline.json").write_text(json.dumps(config))

    plan = deltaworks.plan(tmp_path / "pipeline.json", spark=spark)

    assert (plan.rows, plan.broken) == (10, {"low": 0})
    assert (plan.write.files_read, plan.write.files_before) == (1, 3)
    assert "target.`id` BETWEEN 120L AND 129L" in (plan.write.statement or "")
    spark.range(120, 121).write.format("delta").mode("append").save(str(tmp_path / "in"))
    with pytest.raises(DeltaworksError, match="1 key is there more than once"):
        deltaworks.plan(tmp_path / "pipeline.json", spark=spark)
    assert open_table(tmp_path / "t").version == 2
