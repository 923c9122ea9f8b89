"""Whole pipelines, through the public Python face, on the caller's own session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import deltaworks
from deltaworks.errors import ConfigError, RefusedError, RunError
from tests.integration.rows import both

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from deltaworks.runs.result import RunResult

PIPELINE: dict[str, Any] = {
    "pipelineId": "orders",
    "extract": {
        "sourceType": "File",
        "connectionParams": {"format": "csv", "path": "in.csv"},
        "options": {"header": True},
    },
    "transform": [{"type": "cast", "parameters": {"columns": {"id": "int"}}}],
    "load": {"sinkType": "DeltaLake", "connectionParams": {"path": "out"}},
    "writeMode": "Append",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("id\n1\n2\n")
    save(tmp_path, PIPELINE)
    return tmp_path


def save(folder: Path, pipeline: dict[str, Any]) -> Path:
    path = folder / f"{pipeline['pipelineId']}.yaml"
    path.write_text(yaml.safe_dump(pipeline))
    return path


def run(folder: Path, spark: SparkSession, **how: Any) -> RunResult:
    return deltaworks.run(folder / "orders.yaml", spark=spark, **how)


def manifest(result: RunResult) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(result.record) / "manifest.json").read_text())
    return found


def test_a_pipeline_lands_its_rows_and_leaves_a_record(spark: SparkSession, folder: Path) -> None:
    result = run(folder, spark)

    record = manifest(result)
    assert result.success
    assert both(spark, folder / "out") == [{"id": 1}, {"id": 2}]
    assert (record["status"], record["result"]["version"], record["result"]["rows_read"]) == ("succeeded", 0, 2)
    assert record["plan"]["reads"] == f"csv files {folder / 'in.csv'}"
    assert record["versions"]["spark"] == spark.version
    assert "load took" in (Path(result.record) / "run.log").read_text()
    assert not any((Path(result.record).parents[1] / ".running").iterdir())
    commit = deltaworks.open_table(folder / "out").log.commit(0)
    assert commit.ours is not None
    assert (commit.ours.run_id, commit.ours.pipeline) == (result.run_id, "orders")


COUNT = {"type": "aggregation", "parameters": {"aggregations": [{"column": "*", "function": "count"}]}}
UPSERT = {"sinkType": "DeltaLake", "connectionParams": {"path": "out", "mergeKeys": ["count"]}}


@pytest.mark.parametrize("mode", ["Append", "Upsert"])
def test_rows_read_are_those_the_source_gave_before_they_were_gathered(
    spark: SparkSession, folder: Path, mode: str
) -> None:
    sink = UPSERT if mode == "Upsert" else PIPELINE["load"]
    save(folder, {**PIPELINE, "transform": [COUNT], "load": sink, "writeMode": mode})

    made, added = run(folder, spark), run(folder, spark)

    assert (made.load.rows_read, made.load.rows_inserted) == (2, 1)
    assert (added.load.rows_read, added.load.rows_inserted + added.load.rows_updated) == (2, 1)


def test_rows_read_are_not_known_where_spark_sees_that_nothing_can_come_of_them(
    spark: SparkSession, folder: Path
) -> None:
    save(folder, {**PIPELINE, "transform": [COUNT, {"type": "filter", "parameters": {"condition": "false"}}]})

    result = run(folder, spark)

    assert (result.load.rows_read, result.load.rows_inserted) == (None, 0)


def test_a_mapping_runs_like_a_file(spark: SparkSession, folder: Path) -> None:
    result = deltaworks.run(PIPELINE, spark=spark, set={"load.connectionParams.path": "elsewhere"})

    assert result.load.rows_inserted == 2
    assert both(spark, folder / "elsewhere") == [{"id": 1}, {"id": 2}]


def test_variables_fill_the_file(spark: SparkSession, folder: Path) -> None:
    save(folder, {**PIPELINE, "load": {"sinkType": "DeltaLake", "path": "${WHERE}/${WHAT:out}"}})

    run(folder, spark, variables={"WHERE": str(folder / "deep")})

    assert deltaworks.open_table(folder / "deep/out").version == 0


def test_a_second_run_with_the_same_key_lands_nothing(spark: SparkSession, folder: Path) -> None:
    first = run(folder, spark, key="2024-01-01")
    second = run(folder, spark, key="2024-01-01")
    other = run(folder, spark, key="2024-01-02")

    assert (first.load.already_landed, first.load.version) == (False, 0)
    assert (second.load.already_landed, second.load.version) == (True, 0)
    assert (other.load.already_landed, other.load.version) == (False, 1)
    assert manifest(second)["result"]["already_landed"]
    assert len(both(spark, folder / "out")) == 4


def test_again_lands_a_key_once_more_on_purpose(spark: SparkSession, folder: Path) -> None:
    run(folder, spark, key="k")
    again = run(folder, spark, key="k", again=True)
    third = run(folder, spark, key="k")

    assert (again.load.already_landed, again.load.version) == (False, 1)
    assert (third.load.already_landed, third.load.version) == (True, 1)
    assert len(both(spark, folder / "out")) == 4


def test_a_key_that_a_restore_took_back_is_refused_until_asked_again(spark: SparkSession, folder: Path) -> None:
    run(folder, spark)
    run(folder, spark, key="k")
    spark.sql(f"RESTORE TABLE delta.`{folder}/out` TO VERSION AS OF 0")

    with pytest.raises(RefusedError, match="a RESTORE has taken that version back") as caught:
        run(folder, spark, key="k")

    assert caught.value.exit_code == 4
    assert "--again" in caught.value.hint
    assert run(folder, spark, key="k", again=True).load.version == 3
    assert len(both(spark, folder / "out")) == 4


def test_a_key_is_refused_where_the_table_forgets_marks(spark: SparkSession, folder: Path) -> None:
    run(folder, spark)
    spark.sql(
        f"ALTER TABLE delta.`{folder}/out` SET TBLPROPERTIES "
        "('delta.setTransactionRetentionDuration' = 'interval 1 day')"
    )

    with pytest.raises(RefusedError, match="forgets which loads have landed"):
        run(folder, spark, key="k")

    assert deltaworks.open_table(folder / "out").version == 1


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (
            {"extract": {**PIPELINE["extract"], "incremental": True}},
            "does not go with an incremental",
        ),
        (
            {"load": {"sinkType": "File", "connectionParams": {"path": "out", "format": "csv"}}},
            "This sink carries no marks",
        ),
    ],
)
def test_a_key_is_refused_where_it_can_promise_nothing(
    spark: SparkSession, folder: Path, change: dict[str, Any], error: str
) -> None:
    save(folder, {**PIPELINE, **change})

    with pytest.raises(ConfigError, match=error):
        run(folder, spark, key="k")

    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("how", "error"), [({"again": True}, "--again needs a key"), ({"key": " "}, "A key is 1 to 256")]
)
def test_nonsense_about_keys_is_refused(spark: SparkSession, folder: Path, how: dict[str, Any], error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        run(folder, spark, **how)


def test_a_failed_run_leaves_its_record_and_the_table_as_it_was(spark: SparkSession, folder: Path) -> None:
    run(folder, spark)
    (folder / "in.csv").write_text("id\n3\nfour\n")

    with pytest.raises(RunError, match="four") as caught:
        run(folder, spark)

    assert caught.value.record is not None
    record = json.loads(
        (folder / ".deltaworks/runs/orders" / caught.value.record.rpartition("/")[2] / "manifest.json").read_text()
    )
    assert (record["status"], record["error"]["type"]) == ("failed", "RunError")
    assert "Traceback" in (folder / ".deltaworks/runs/orders" / record["run_id"] / "run.log").read_text()
    assert deltaworks.open_table(folder / "out").version == 0


def test_without_check_a_failure_is_returned(spark: SparkSession, folder: Path) -> None:
    (folder / "in.csv").write_text("id\nfour\n")

    result = run(folder, spark, check=False)

    assert not result.success
    assert "four" in (result.load.error or "")
    assert manifest(result)["status"] == "failed"


@pytest.mark.parametrize(
    ("transform", "error", "hint"),
    [
        (
            {"type": "filter", "parameters": {"condition": "idd > 1"}},
            "transform[0] filter: There is no column 'idd'.",
            "Columns there: id.",
        ),
        (
            {"type": "sql", "parameters": {"query": "SELECT x FROM input"}},
            "transform[0] sql: There is no column 'x'.",
            "Columns there: id.",
        ),
        ({"type": "filter", "parameters": {"condition": "id > >"}}, "transform[0] filter: Syntax error", "Change it"),
        ({"type": "cast", "parameters": {"columns": {"id": "nonsense"}}}, "transform[0] cast:", "Change it"),
        (
            {"type": "dropColumns", "parameters": {"columns": "x"}},
            "transform[0] dropColumns: There is no column 'x'.",
            "id.",
        ),
    ],
)
def test_a_mistake_in_a_step_names_the_step_and_what_is_there(
    spark: SparkSession, folder: Path, transform: dict[str, Any], error: str, hint: str
) -> None:
    save(folder, {**PIPELINE, "transform": [transform]})

    with pytest.raises(ConfigError) as caught:
        run(folder, spark)

    assert str(caught.value).startswith(error)
    assert hint in caught.value.hint
    assert "\n" not in str(caught.value)
    assert not (folder / "out").exists()


def test_a_plan_says_what_would_happen_and_writes_nothing(spark: SparkSession, folder: Path) -> None:
    upsert = {"sinkType": "DeltaLake", "connectionParams": {"path": "out", "mergeKeys": "id"}}
    save(folder, {**PIPELINE, "load": upsert, "writeMode": "Upsert"})
    before = deltaworks.plan(folder / "orders.yaml", spark=spark)
    run(folder, spark)

    after = deltaworks.plan(folder / "orders.yaml", spark=spark)

    assert (before.write.version, before.write.action) == (None, f"create {folder / 'out'}")
    assert (after.write.version, after.write.action) == (0, f"merge into {folder / 'out'} by id")
    assert [(column.name, column.type) for column in after.write.columns] == [("id", "int")]
    assert after.steps == ("cast: cast id to int",)
    assert "MERGE INTO" in (after.write.statement or "")
    assert deltaworks.open_table(folder / "out").version == 0


def test_a_secret_does_not_reach_the_record(spark: SparkSession, folder: Path) -> None:
    secret = "c4n4ry/+ value"
    vault = deltaworks.MemoryVault({"lake": {"secret_key": secret}})
    step = {"type": "filter", "parameters": {"condition": f"id = '{secret}'"}}
    save(folder, {**PIPELINE, "transform": [step], "load": {**PIPELINE["load"], "credentialId": "lake"}})

    result = run(folder, spark, vault=vault, check=False)

    for path in Path(result.record).rglob("*"):
        assert secret not in path.read_text()


def test_a_credential_the_vault_lacks_is_named(spark: SparkSession, folder: Path) -> None:
    save(folder, {**PIPELINE, "load": {**PIPELINE["load"], "credentialId": "lake-s3"}})

    with pytest.raises(deltaworks.DeltaworksError, match="No credential is named 'lake-s3'") as caught:
        run(folder, spark, variables={})

    assert caught.value.exit_code == 3
    assert "DELTAWORKS_LAKE_S3__" in caught.value.hint


def test_validate_returns_the_checked_file(folder: Path) -> None:
    assert deltaworks.validate(folder / "orders.yaml").pipeline_id == "orders"
