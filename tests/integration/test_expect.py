"""Rules that rows must keep: a load that breaks one fails, drops the row or sets it aside, and counts it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import deltaworks
from deltaworks.errors import DeltaworksError, RunError
from deltaworks.lake.log import Log
from deltaworks.lake.table import open_table
from tests.integration.rows import both, frame, stored

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

ROWS = ({"id": 1, "n": 5}, {"id": 2, "n": -5}, {"id": 3, "n": None}, {"id": None, "n": 1})


@pytest.fixture(autouse=True)
def source(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame(spark, *ROWS, schema="id int, n int").write.format("delta").save(str(tmp_path / "source"))


def config(*rules: dict[str, str], mode: str = "Append", **load: Any) -> dict[str, Any]:
    return {
        "pipelineId": "checked",
        "extract": {"sourceType": "DeltaLake", "path": "source"},
        "expect": list(rules),
        "load": {"sinkType": "DeltaLake", "connectionParams": {"path": "t", **load}},
        "writeMode": mode,
    }


POSITIVE = {"name": "positive", "check": "n > 0"}
KNOWN = {"name": "known", "check": "id IS NOT NULL"}
MODES = [("Append", {}), ("Overwrite", {}), ("Upsert", {"mergeKeys": "id"})]


@pytest.mark.parametrize(("mode", "params"), MODES)
def test_a_rule_that_must_be_kept_fails_the_load_with_count_and_rows_and_nothing_is_written(
    spark: SparkSession, tmp_path: Path, mode: str, params: dict[str, Any]
) -> None:
    with pytest.raises(RunError) as caught:
        deltaworks.run(config(POSITIVE, mode=mode, **params), spark=spark)

    assert str(caught.value).startswith("expect: 2 of 4 rows do not keep 'positive' (n > 0), such as ")
    assert '{"id":2,"n":-5}' in str(caught.value)
    assert "onFailure: drop or setAside" in caught.value.hint
    assert Log(str(tmp_path / "t")).latest() is None
    assert not (tmp_path / "t_aside").exists()


@pytest.mark.parametrize(("mode", "params"), MODES)
def test_rows_that_break_a_rule_are_dropped_and_counted(
    spark: SparkSession, tmp_path: Path, mode: str, params: dict[str, Any]
) -> None:
    rules = ({**POSITIVE, "onFailure": "drop"}, {**KNOWN, "onFailure": "drop"})

    load = deltaworks.run(config(*rules, mode=mode, **params), spark=spark).load

    assert both(spark, tmp_path / "t") == [{"id": 1, "n": 5}]
    assert (load.rows_read, load.rows_inserted, load.rows_dropped, load.rows_set_aside) == (4, 1, 3, 0)
    assert [tuple(rule) for rule in load.expectations] == [("positive", "drop", 2), ("known", "drop", 1)]


@pytest.mark.parametrize(("mode", "params"), MODES)
def test_rows_that_break_a_rule_are_set_aside_with_rule_reason_run_and_row(
    spark: SparkSession, tmp_path: Path, mode: str, params: dict[str, Any]
) -> None:
    rules = ({**POSITIVE, "onFailure": "setAside"}, {**KNOWN, "onFailure": "setAside"})

    result = deltaworks.run(config(*rules, mode=mode, **params), spark=spark)

    assert both(spark, tmp_path / "t") == [{"id": 1, "n": 5}]
    assert (result.load.rows_read, result.load.rows_set_aside, result.load.rows_dropped) == (4, 3, 0)
    aside = both(spark, tmp_path / "t_aside")
    assert {row["run"] for row in aside} == {result.run_id}
    assert {row["pipeline"] for row in aside} == {"checked"}
    assert [(row["rule"], row["reason"], json.loads(row["row"])) for row in aside] == [
        ("known", "not true: id IS NOT NULL", {"id": None, "n": 1}),
        ("positive", "not true: n > 0", {"id": 2, "n": -5}),
        ("positive", "not true: n > 0", {"id": 3, "n": None}),
    ]


def test_a_row_that_breaks_two_rules_is_set_aside_once_with_both_reasons(spark: SparkSession, tmp_path: Path) -> None:
    rules = (
        {**POSITIVE, "onFailure": "drop"},
        {"name": "even", "check": "id % 2 = 1", "onFailure": "setAside"},
        {"name": "small", "check": "id < 2", "onFailure": "setAside"},
    )

    load = deltaworks.run(config(*rules), spark=spark).load

    assert (load.rows_inserted, load.rows_set_aside, load.rows_dropped) == (1, 3, 0)
    assert load.rows_inserted + load.rows_set_aside + load.rows_dropped == load.rows_read == 4
    reasons = {json.loads(row["row"])["id"]: (row["rule"], row["reason"]) for row in stored(tmp_path / "t_aside")}
    assert reasons[2] == ("even", "not true: id % 2 = 1; not true: id < 2")


def test_a_failure_of_another_rule_sets_nothing_aside(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="'known'"):
        deltaworks.run(config({**POSITIVE, "onFailure": "setAside"}, KNOWN), spark=spark)

    assert not (tmp_path / "t_aside").exists()


def test_a_replayed_load_sets_nothing_aside_twice(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = {**POSITIVE, "onFailure": "setAside"}
    monkeypatch.setenv("DELTAWORKS_FAILPOINTS", "after_aside=raise")
    with pytest.raises(DeltaworksError):
        deltaworks.run(config(rule), spark=spark, key="monday")
    monkeypatch.delenv("DELTAWORKS_FAILPOINTS")

    second = deltaworks.run(config(rule), spark=spark, key="monday")
    third = deltaworks.run(config(rule), spark=spark, key="monday")

    assert (second.load.already_landed, third.load.already_landed) == (False, True)
    assert (len(stored(tmp_path / "t")), len(stored(tmp_path / "t_aside"))) == (2, 2)
    marks = [mark for commit in open_table(tmp_path / "t_aside").history() for mark in commit.marks]
    assert [(mark.app_id, mark.version) for mark in marks] == [
        ("deltaworks/checked/aside/1#monday", at) for at in (2, 1)
    ]
    assert {row["run"] for row in stored(tmp_path / "t_aside")} == {second.run_id}
    assert second.load.rows_set_aside == 2


def test_set_aside_rows_go_on_when_the_columns_of_the_target_change(spark: SparkSession, tmp_path: Path) -> None:
    rule = {**POSITIVE, "onFailure": "setAside"}
    deltaworks.run(config(rule), spark=spark)
    wider = config(rule, mergeSchema=True)
    wider["transform"] = [{"type": "withColumn", "parameters": {"name": "extra", "expression": "'x'"}}]

    deltaworks.run(wider, spark=spark)

    assert [json.loads(row["row"]).get("extra") for row in stored(tmp_path / "t_aside")].count("x") == 2


def test_a_file_sink_can_set_rows_aside_too(spark: SparkSession, tmp_path: Path) -> None:
    files = config({**POSITIVE, "onFailure": "setAside"})
    files["load"] = {"sinkType": "File", "connectionParams": {"format": "json", "path": "out"}}

    load = deltaworks.run(files, spark=spark).load

    assert (load.rows_read, load.rows_inserted, load.rows_set_aside) == (4, 2, 2)
    assert spark.read.json(str(tmp_path / "out")).count() == 2
    assert len(stored(tmp_path / "out_aside")) == 2


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"name": "x", "check": "missing > 0"}, "expect x: There is no column 'missing'."),
        ({"name": "x", "check": "n > > 0"}, "expect x: "),
        ({"name": "x", "check": "n + 1"}, "expect x: "),
    ],
)
def test_a_rule_that_cannot_be_is_refused_before_a_row_is_read(
    spark: SparkSession, tmp_path: Path, rule: dict[str, str], said: str
) -> None:
    with pytest.raises(DeltaworksError) as caught:
        deltaworks.run(config(rule), spark=spark)

    assert str(caught.value).startswith(said)
    assert caught.value.exit_code == 2
    assert not (tmp_path / "t").exists()


def test_rules_and_keys_are_looked_at_together_and_only_rows_that_stay_count(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame(spark, {"id": 1, "n": -1}, schema="id int, n int").write.format("delta").mode("append").save(
        str(tmp_path / "source")
    )
    rules = ({**POSITIVE, "onFailure": "drop"}, {**KNOWN, "onFailure": "drop"})

    load = deltaworks.run(config(*rules, mode="Upsert", mergeKeys="id", onNullKeys="fail"), spark=spark).load

    assert (load.rows_read, load.rows_inserted, load.rows_dropped) == (5, 1, 4)
    assert both(spark, tmp_path / "t") == [{"id": 1, "n": 5}]


@pytest.mark.parametrize("wrong", [{"id": 1, "n": 7}, {"id": None, "n": 7}])
def test_a_load_that_its_keys_refuse_sets_nothing_aside(
    spark: SparkSession, tmp_path: Path, wrong: dict[str, Any]
) -> None:
    frame(spark, wrong, schema="id int, n int").write.format("delta").mode("append").save(str(tmp_path / "source"))
    rule = {**POSITIVE, "onFailure": "setAside"}

    with pytest.raises(RunError, match="more than once"):
        deltaworks.run(config(rule, mode="Upsert", mergeKeys="id"), spark=spark)

    assert not (tmp_path / "t_aside").exists()
