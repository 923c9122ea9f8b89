"""One credential for a bucket in one process, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tests.integration.s3.lake import credential

import deltaworks
from deltaworks import MemoryVault
from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.integration.s3.lake import Lake

A = {"id": 1, "name": "a"}


def both(lake: Lake) -> MemoryVault:
    """A vault with two credentials for the same bucket."""
    return MemoryVault({"lake": credential(lake.s3), "other": credential(lake.s3, lake.s3.second)})


def copy(lake: Lake, source: str, target: str) -> dict[str, Any]:
    return {
        "pipelineId": "copy",
        "extract": {"sourceType": "DeltaLake", "path": lake.uri("t"), "credentialId": source},
        "load": {"sinkType": "DeltaLake", "path": lake.uri("copy"), "credentialId": target},
        "writeMode": "Append",
    }


def test_two_credentials_for_one_bucket_are_refused_by_the_plan(lake: Lake, tmp_path: Path) -> None:
    lake.load([A], "t")
    (tmp_path / "copy.yaml").write_text(yaml.safe_dump(copy(lake, "lake", "other")))

    with pytest.raises(ConfigError, match="is reached in two ways, with lake and other") as caught:
        deltaworks.plan(tmp_path / "copy.yaml", spark=lake.spark, vault=both(lake))

    assert "same credentialId" in caught.value.hint


def test_two_names_of_the_same_credential_are_one(lake: Lake) -> None:
    lake.load([A], "t")
    same = MemoryVault({"lake": credential(lake.s3), "other": credential(lake.s3)})

    assert deltaworks.run(copy(lake, "lake", "other"), spark=lake.spark, vault=same).success


def test_a_second_credential_later_in_the_same_process_is_refused(lake: Lake) -> None:
    lake.load([A], "t")

    with pytest.raises(ConfigError, match=r"already reaches s3a://.* with another credential than 'other'"):
        deltaworks.run(copy(lake, "other", "other"), spark=lake.spark, vault=both(lake))


def test_a_rotated_secret_is_picked_up_by_the_next_run(lake: Lake) -> None:
    lake.load([A], "t")
    rotated = MemoryVault({"lake": credential(lake.s3, lake.s3.second)})

    result = replace(lake, vault=rotated).load([A], "t")

    assert result.success, result.error
    assert lake.spark.conf.get(f"fs.s3a.bucket.{lake.bucket}.access.key") == lake.s3.second.key
    assert lake.rows("t") == [A, A]


def test_a_secret_that_became_wrong_fails_until_the_next_right_one(lake: Lake) -> None:
    lake.load([A], "t")
    wrong = {**credential(lake.s3), "secret_access_key": "wrong"}

    failed = replace(lake, vault=MemoryVault({"lake": wrong})).load([A], "t")
    mended = lake.load([A], "t")

    assert (failed.success, mended.success) == (False, True)
    assert "keys are wrong" in f"{failed.hint}"
    assert lake.rows("t") == [A, A]


@pytest.fixture
def environment(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in lake.s3.options().items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("environment")
def test_without_a_credential_the_environment_is_asked_for_both_engines(lake: Lake) -> None:
    load = {"sinkType": "DeltaLake", "path": lake.uri("t")}

    assert deltaworks.load(lake.spark.range(3), load, "Append").success
    assert deltaworks.load(lake.spark.range(3), load, "Append").version == 1


def told(lake: Lake) -> dict[str, str]:
    return {"endpoint": lake.s3.endpoint, "access.key": lake.s3.owner.key, "secret.key": lake.s3.owner.secret}


def test_what_the_session_was_given_counts_for_delta_rs_too(lake: Lake) -> None:
    session = lake.spark.newSession()
    for name, value in told(lake).items():
        session.conf.set(f"fs.s3a.bucket.{lake.bucket}.{name}", value)

    result = deltaworks.load(session.range(3), {"sinkType": "DeltaLake", "path": lake.uri("t")}, "Append")

    assert result.success, result.error
    assert lake.table("t").rows == 3


def test_what_hadoop_was_told_counts_for_delta_rs_too(lake: Lake) -> None:
    hadoop: Any = lake.spark._jsc.hadoopConfiguration()
    for name, value in told(lake).items():
        hadoop.set(f"fs.s3a.{name}", value)
    try:
        result = deltaworks.load(lake.spark.range(3), {"sinkType": "DeltaLake", "path": lake.uri("t")}, "Append")
    finally:
        for name in told(lake):
            hadoop.unset(f"fs.s3a.{name}")

    assert result.success, result.error
    assert lake.table("t").rows == 3


def test_the_endpoint_of_the_credential_wins_and_the_plan_says_so(lake: Lake, tmp_path: Path) -> None:
    lake.load([A], "t")
    pipeline = copy(lake, "lake", "lake")
    for end in ("extract", "load"):
        pipeline[end]["options"] = {"fs.s3a.endpoint": "http://elsewhere:1"}
    (tmp_path / "copy.yaml").write_text(yaml.safe_dump(pipeline))

    plan = deltaworks.plan(tmp_path / "copy.yaml", spark=lake.spark, vault=lake.vault)

    [note] = [note for note in plan.notes if "endpoint" in note]
    assert note == f"endpoint is {lake.s3.endpoint}, as credential 'lake' says; the file says http://elsewhere:1"


def test_a_bucket_the_session_has_no_jars_for_is_a_clear_error(lake: Lake, spark: SparkSession) -> None:
    load = {"sinkType": "DeltaLake", "path": "abfss://c@acme.dfs.core.windows.net/t", "credentialId": "azure"}
    vault = MemoryVault({"azure": {"account_key": "Y2FuYXJ5"}})

    result = deltaworks.load(spark.range(1), load, "Append", vault=vault)

    assert not result.success
    assert "cannot reach abfss://" in f"{result.error}"
    assert "jars for this storage" in f"{result.hint}"
