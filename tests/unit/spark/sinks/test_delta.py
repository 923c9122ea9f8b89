from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError
from tests.unit.tables import append

from deltaworks.lake.after import After
from deltaworks.lake.commit import Commit, Mark
from deltaworks.lake.mode import WriteMode
from deltaworks.spark.sinks import AnySink
from deltaworks.spark.sinks.delta import DeltaSink
from deltaworks.spark.sinks.delta_steps import properties, step_for
from deltaworks.spark.sinks.delta_write import Create, Merge, Save
from deltaworks.spark.stamp import write_options

if TYPE_CHECKING:
    from pathlib import Path


def sink(path: object = "orders", *, options: dict[str, Any] | None = None, **parameters: Any) -> DeltaSink:
    values = {"sinkType": "DeltaLake", "connectionParams": {"path": str(path), **parameters}, "options": options or {}}
    found = TypeAdapter(AnySink).validate_python(values)
    assert isinstance(found, DeltaSink)
    return found


def test_an_upsert_needs_keys() -> None:
    with pytest.raises(PydanticCustomError, match="Upsert needs mergeKeys"):
        sink().check_mode(WriteMode.UPSERT)


def test_an_upsert_with_keys_is_fine() -> None:
    sink(mergeKeys="id", updateCondition="a", deleteCondition="b").check_mode(WriteMode.UPSERT)


UPSERT_ONLY: dict[str, Any] = {
    "mergeKeys": "id",
    "updateCondition": "source.a",
    "deleteCondition": "source.a",
    "updateColumns": "a",
    "insertColumns": "a",
    "onNullKeys": "match",
    "onDuplicateKeys": "fail",
    "checks": True,
}
OVERWRITE_ONLY: dict[str, Any] = {
    "replaceWhere": "a = 1",
    "partitionOverwriteMode": "dynamic",
    "overwriteSchema": True,
}


@pytest.mark.parametrize("key", [*UPSERT_ONLY, *OVERWRITE_ONLY])
@pytest.mark.parametrize("mode", WriteMode)
def test_what_would_do_nothing_is_refused(mode: WriteMode, key: str) -> None:
    values = UPSERT_ONLY | OVERWRITE_ONLY
    keys = {"mergeKeys": "id"} if mode is WriteMode.UPSERT else {}
    found = sink("orders", options=None, **keys | {key: values[key]})
    own = {WriteMode.UPSERT: UPSERT_ONLY, WriteMode.OVERWRITE: OVERWRITE_ONLY}.get(mode, {})

    if key in own:
        found.check_mode(mode)
    else:
        with pytest.raises(PydanticCustomError, match=f"{key} does nothing with {mode.value}"):
            found.check_mode(mode)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"partitionBy": "a", "clusterBy": "b"}, "partitionBy does not go with clusterBy"),
        ({"replaceWhere": "a", "overwriteSchema": True}, "replaceWhere does not go with overwriteSchema"),
        (
            {"replaceWhere": "a", "partitionOverwriteMode": "dynamic"},
            "replaceWhere does not go with partitionOverwriteMode: dynamic",
        ),
        (
            {"overwriteSchema": True, "partitionOverwriteMode": "dynamic"},
            "overwriteSchema does not go with partitionOverwriteMode: dynamic",
        ),
        ({"onDuplicateKeys": "keepNewest"}, "keepNewest needs orderBy"),
        ({"orderBy": "at"}, "orderBy is for onDuplicateKeys: keepNewest"),
        ({"checks": False, "onNullKeys": "fail"}, "onNullKeys: fail needs checks"),
        (
            {"enableChangeDataFeed": True, "tableProperties": {"delta.enableChangeDataFeed": "false"}},
            "enableChangeDataFeed and tableProperties say different things",
        ),
        ({"table": "orders"}, "path and table are both given"),
        ({"table": "a.b.c.d"}, "String should match pattern"),
        ({"table": "a`b"}, "String should match pattern"),
        ({"targetFileSize": "large"}, "is not a size"),
        ({"vacuumRetentionHours": "-1"}, "greater than or equal to 0"),
        ({"partitionOverwriteMode": "some"}, "'static' or 'dynamic'"),
        ({"dataSkippingNumIndexedCols": -2}, "greater than or equal to -1"),
    ],
)
def test_keys_that_contradict_each_other_are_refused(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        sink("orders", options=None, **parameters)


def test_a_sink_without_a_place_is_refused() -> None:
    with pytest.raises(ValidationError, match="path is missing"):
        TypeAdapter(AnySink).validate_python({"sinkType": "DeltaLake"})


def test_what_is_done_afterwards_may_stand_in_either_place() -> None:
    values: dict[str, Any] = {
        "sinkType": "DeltaLake",
        "path": "t",
        "after": {"optimize": True, "vacuumRetentionHours": 200},
    }
    inner = {**values, "connectionParams": {"zOrderColumns": "id", "optimize": "true"}}

    found = TypeAdapter(AnySink).validate_python(inner)

    assert isinstance(found, DeltaSink)
    assert found.afterwards == After.model_validate({**values["after"], "zOrderColumns": "id"})
    with pytest.raises(ValidationError, match="optimize is said twice"):
        TypeAdapter(AnySink).validate_python({**values, "connectionParams": {"optimize": False}})


def test_a_property_said_the_same_in_both_places_is_fine() -> None:
    found = sink(enableChangeDataFeed=True, tableProperties={"delta.enableChangeDataFeed": True, "delta.x": 5})

    assert properties(found) == {"delta.enableChangeDataFeed": "true", "delta.x": "5"}


@pytest.mark.parametrize("mode", [WriteMode.APPEND, WriteMode.OVERWRITE])
def test_rows_can_be_added_or_replaced(mode: WriteMode) -> None:
    sink(partitionBy="day", enableChangeDataFeed="true").check_mode(mode)


@pytest.mark.parametrize("option", ["txnAppId", "txnVersion", "userMetadata"])
def test_our_own_marks_cannot_be_set(option: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(f"The option {option!r} is set by deltaworks itself")):
        sink(options={option: "x"})


def test_other_options_are_handed_on() -> None:
    assert sink(options={"maxRecordsPerFile": 5}).spark_options() == {"maxRecordsPerFile": "5"}


@pytest.mark.parametrize("option", ["mergeSchema", "OVERWRITESCHEMA", "replaceWhere", "partitionOverwriteMode"])
def test_an_option_that_is_a_key_is_asked_for_there(option: str) -> None:
    with pytest.raises(ValidationError, match=f"The option {option!r} is a key of its own"):
        sink(options={option: "x"})


def test_a_table_that_is_not_there_yet_is_none(tmp_path: Path) -> None:
    assert sink(tmp_path / "orders").target() is None


def test_a_table_is_seen_as_it_is_now(tmp_path: Path) -> None:
    append(tmp_path)
    append(tmp_path)

    table = sink(tmp_path).target()

    assert table is not None
    assert table.version == 1


def test_a_delta_table_takes_keys() -> None:
    assert sink().takes_keys
    assert sink().place == "orders"


def test_the_commit_of_a_plain_load_carries_no_mark() -> None:
    commit = Commit(run_id="run-1")

    assert write_options(commit) == {"userMetadata": commit.to_json()}


def test_the_commit_of_a_keyed_load_carries_its_mark() -> None:
    commit = Commit(run_id="run-1", mark=Mark("deltaworks/orders#monday", 2))

    assert write_options(commit) == {
        "userMetadata": commit.to_json(),
        "txnAppId": "deltaworks/orders#monday",
        "txnVersion": "2",
    }


def test_a_table_that_is_not_there_is_made_whatever_the_mode() -> None:
    for mode in WriteMode:
        step = step_for(sink(mergeKeys="id"), None, mode)

        assert isinstance(step, Create)
        assert (step.action, step.statement) == ("create orders", None)


def test_a_clustered_table_is_made_by_a_statement() -> None:
    step = step_for(sink(clusterBy=["a", "b"], enableChangeDataFeed=True), None, WriteMode.APPEND)

    assert step.statement == (
        "CREATE TABLE delta.`orders` USING delta\n"
        "CLUSTER BY (`a`, `b`)\n"
        "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')\n"
        "AS SELECT * FROM the rows"
    )


@pytest.mark.parametrize(
    ("mode", "parameters", "action", "options"),
    [
        (WriteMode.APPEND, {}, "append to orders", {}),
        (WriteMode.APPEND, {"mergeSchema": True}, "append to orders", {"mergeSchema": "true"}),
        (WriteMode.OVERWRITE, {}, "replace all rows of orders", {"partitionOverwriteMode": "static"}),
        (
            WriteMode.OVERWRITE,
            {"replaceWhere": "a = 1"},
            "replace the rows where a = 1 of orders",
            {"replaceWhere": "a = 1", "partitionOverwriteMode": "static"},
        ),
        (
            WriteMode.OVERWRITE,
            {"partitionOverwriteMode": "dynamic"},
            "replace the partitions of these rows in orders",
            {"partitionOverwriteMode": "dynamic"},
        ),
        (
            WriteMode.OVERWRITE,
            {"overwriteSchema": True},
            "replace all rows of orders",
            {"partitionOverwriteMode": "static", "overwriteSchema": "true"},
        ),
    ],
)
def test_a_table_that_is_there_gets_files(
    tmp_path: Path, mode: WriteMode, parameters: dict[str, Any], action: str, options: dict[str, str]
) -> None:
    append(tmp_path)
    found = sink(tmp_path, options=None, **parameters)

    step = step_for(found, found.target(), mode)

    assert isinstance(step, Save)
    assert (step.action.replace(str(tmp_path), "orders"), dict(step.options)) == (action, options)


def test_a_merge_copies_rows_only_where_they_could_change(tmp_path: Path) -> None:
    append(tmp_path)
    found = sink(tmp_path, mergeKeys="id", targetFileSize="64MB", autoCompact=True)

    once, again = (step_for(found, found.target(), WriteMode.UPSERT, repeats=repeats) for repeats in (False, True))

    sized = {
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.databricks.delta.optimizeWrite.enabled": "true",
        "spark.databricks.delta.autoCompact.enabled": "true",
        "spark.databricks.delta.optimizeWrite.binSize": "64m",
        "spark.databricks.delta.autoCompact.maxFileSize": str(64 * 2**20),
    }
    assert isinstance(once, Merge)
    assert isinstance(again, Merge)
    assert once.conf == sized
    assert again.conf == {**sized, "spark.databricks.delta.merge.materializeSource": "none"}


def test_a_folder_for_rows_looked_at_twice_is_where_no_vacuum_looks(tmp_path: Path) -> None:
    assert sink(tmp_path / "new").scratch("run-1") == str(tmp_path / ".new.run-1.staging")
    append(tmp_path / "orders")
    assert sink(tmp_path / "orders").scratch("run-1") == str(tmp_path / "orders/_deltaworks/staging-run-1")
