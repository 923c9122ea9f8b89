"""Delta tables in a bucket, written and read by pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from deltalake import write_deltalake
from tests.integration.rows import collected
from tests.unit.tables import ROWS

import deltaworks

if TYPE_CHECKING:
    from tests.integration.s3.lake import Lake
    from tests.servers.faults.client import Faults

A, B = {"id": 1, "name": "a"}, {"id": 2, "name": "b"}


def test_rows_are_appended_replaced_and_merged(lake: Lake) -> None:
    for mode, rows, params in (
        ("Append", [A], {"enableChangeDataFeed": True}),
        ("Append", [B], {}),
        ("Upsert", [{"id": 2, "name": "B"}, {"id": 3, "name": "c"}], {"mergeKeys": ["id"]}),
    ):
        result = lake.load(rows, "t", mode, **params)
        assert result.success, result.error

    assert lake.rows("t") == [A, {"id": 2, "name": "B"}, {"id": 3, "name": "c"}]
    assert lake.load([A], "t", "Overwrite").rows_deleted == 3
    assert lake.rows("t") == [A]
    assert [kind for kind, _ in lake.changes("t")].count("update_postimage") == 1


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_s3_and_s3a_are_the_same_table_for_both_engines(lake: Lake, scheme: str) -> None:
    rows = ROWS.to_pylist()
    write_deltalake(lake.uri("t", scheme), ROWS, storage_options=lake.s3.options())

    lake.run(
        extract={"sourceType": "DeltaLake", "path": lake.uri("t", scheme), "credentialId": "lake"},
        load={"sinkType": "DeltaLake", "path": lake.uri("copy", scheme), "credentialId": "lake"},
    )

    assert lake.rows("copy") == sorted(rows, key=str)
    assert lake.table("copy").history().__next__().ours is not None


def test_a_table_with_an_odd_name_is_the_same_for_both_engines(lake: Lake) -> None:
    assert lake.load([A], "odd name/50% ü").success

    assert lake.rows("odd name/50% ü") == [A]


def test_partitions_come_back_equal(lake: Lake) -> None:
    rows = [{"id": at, "p": value} for at, value in enumerate(["a b", "%", "a/b", "..", "ü", "x=y", None])]

    assert lake.load(rows, "t", partitionBy="p").success

    assert lake.rows("t") == sorted(rows, key=str)


def test_a_table_is_looked_after_once_the_rows_have_landed(lake: Lake) -> None:
    for row in (A, B):
        lake.load([row], "t")
    csv = lake.spark.createDataFrame([(3, "c")], "id BIGINT, name STRING")
    csv.write.format("delta").save(lake.uri("more"))

    result = lake.run(
        extract={"sourceType": "DeltaLake", "path": lake.uri("more"), "credentialId": "lake"},
        load={**lake.sink("t"), "after": {"optimize": True, "vacuumRetentionHours": 168}},
    )

    assert [(step.name, step.success) for step in result.after] == [("optimize", True), ("vacuum", True)]
    assert result.after[0].files_removed == 3
    assert lake.rows("t") == [A, B, {"id": 3, "name": "c"}]


def test_rows_that_break_a_rule_are_set_aside_in_the_bucket(lake: Lake) -> None:
    lake.load([A, B], "in")

    lake.run(
        extract={"sourceType": "DeltaLake", "path": lake.uri("in"), "credentialId": "lake"},
        expect=[{"name": "first", "check": "id = 1", "onFailure": "setAside"}],
        load=lake.sink("t"),
    )

    assert lake.rows("t") == [A]
    assert lake.table("t_aside").rows == 1


def test_rows_that_are_not_the_same_at_every_look_are_kept_in_the_bucket_meanwhile(lake: Lake) -> None:
    lake.load([A, B], "t")
    lake.load([A, B], "in")

    lake.run(
        extract={"sourceType": "DeltaLake", "path": lake.uri("in"), "credentialId": "lake"},
        transform=[{"type": "withColumn", "parameters": {"name": "name", "expression": "uuid()"}}],
        load=lake.sink("t", mergeKeys="id"),
        writeMode="Upsert",
    )

    names = [row["name"] for row in lake.rows("t")]
    assert len({*names, "a", "b"}) == 4
    assert not [name for name in lake.table("t").log.folder.files("_deltaworks") if "staging" in name]


def test_a_source_is_extracted_by_itself(lake: Lake) -> None:
    lake.load([A], "t")
    lake.load([B], "t")
    params = {"path": lake.uri("t"), "versionAsOf": 0}
    config = {"sourceType": "DeltaLake", "credentialId": "lake", "connectionParams": params}

    assert collected(deltaworks.extract(config, spark=lake.spark, vault=lake.vault)) == [A]


def test_the_endpoint_may_stand_in_the_file(lake: Lake) -> None:
    keys = {"access_key_id": lake.s3.owner.key, "secret_access_key": lake.s3.owner.secret}
    load = {**lake.sink("t"), "options": {"fs.s3a.endpoint": lake.s3.endpoint}}
    vault = deltaworks.MemoryVault({"lake": keys})

    result = deltaworks.load(lake.spark.range(3), load, "Append", vault=vault)

    assert result.success, result.error
    assert lake.table("t").rows == 3


def test_a_key_lands_once_in_a_bucket(lake: Lake) -> None:
    lake.load([A], "in")
    pipeline = {
        "pipelineId": "orders",
        "extract": {"sourceType": "DeltaLake", "path": lake.uri("in"), "credentialId": "lake"},
        "load": lake.sink("t"),
        "writeMode": "Append",
    }

    results = [deltaworks.run(pipeline, spark=lake.spark, vault=lake.vault, key="monday") for _ in range(2)]

    assert [result.load.already_landed for result in results] == [False, True]
    assert lake.rows("t") == [A]


def test_a_load_renames_nothing_and_asks_little(shaky: Lake, faults: Faults) -> None:
    shaky.load([A], "t")
    faults.add("pass", times=None)

    assert shaky.load([B], "t").success

    changed = [seen.path.rpartition("/")[2] for seen in faults.seen() if seen.method not in ("GET", "HEAD")]
    assert [name for name in changed if "part-" not in name] == [f"{1:020}.json", f"{1:020}.crc"]
    assert len(faults.seen()) <= 25
