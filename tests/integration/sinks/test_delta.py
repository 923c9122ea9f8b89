from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import both, frame
from tests.integration.sinks.loads import landed, load, meanwhile

import deltaworks
from deltaworks.errors import RunError
from deltaworks.lake.commit import Commit, Mark
from deltaworks.lake.mode import WriteMode
from deltaworks.lake.schema import fingerprint
from deltaworks.pipeline.checking import checked
from deltaworks.pipeline.config import LoadPart
from deltaworks.pipeline.document import Document
from deltaworks.spark.batch import Batch

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def test_an_append_makes_the_table_and_then_adds_to_it(spark: SparkSession, tmp_path: Path) -> None:
    first = landed(load(frame(spark, {"id": 1}), tmp_path / "t", "Append"))
    second = landed(load(frame(spark, {"id": 2}, {"id": 3}), tmp_path / "t", "Append"))

    assert (first.version, second.version) == (0, 1)
    assert (second.rows_read, second.rows_inserted, second.rows_written) == (2, 2, 2)
    assert second.files_added >= 1
    assert second.bytes_added > 0
    assert both(spark, tmp_path / "t") == [{"id": 1}, {"id": 2}, {"id": 3}]


def test_a_table_is_made_with_its_partitions_and_change_feed(spark: SparkSession, tmp_path: Path) -> None:
    rows = frame(spark, {"id": 1, "day": "a/b %"}, {"id": 2, "day": None}, schema="id int, day string")

    landed(load(rows, tmp_path / "t", "Append", partitionBy="day", enableChangeDataFeed="true"))

    table = deltaworks.open_table(tmp_path / "t")
    assert table.partition_columns == ("day",)
    assert table.properties["delta.enableChangeDataFeed"] == "true"
    assert both(spark, tmp_path / "t") == [{"id": 1, "day": "a/b %"}, {"id": 2, "day": None}]


def test_an_overwrite_replaces_all_rows_and_keeps_history_and_properties(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(frame(spark, {"id": 1}, {"id": 2}), tmp_path / "t", "Append", enableChangeDataFeed=True))

    result = landed(load(frame(spark, {"id": 3}), tmp_path / "t", "Overwrite"))

    assert (result.rows_inserted, result.rows_deleted, result.version) == (1, 2, 1)
    assert both(spark, tmp_path / "t") == [{"id": 3}]
    assert deltaworks.open_table(tmp_path / "t").properties["delta.enableChangeDataFeed"] == "true"
    assert deltaworks.open_table(tmp_path / "t", version=0).rows == 2


def test_an_overwrite_of_nothing_makes_the_table(spark: SparkSession, tmp_path: Path) -> None:
    result = landed(load(frame(spark, {"id": 3}), tmp_path / "t", "Overwrite"))

    assert (result.rows_inserted, result.rows_deleted, result.version) == (1, 0, 0)


def test_an_upsert_inserts_updates_and_deletes_in_one_commit(spark: SparkSession, tmp_path: Path) -> None:
    schema = "id int, at int, gone boolean"
    there = frame(spark, *({"id": number, "at": 5, "gone": False} for number in range(4)), schema=schema)
    landed(load(there, tmp_path / "t", "Append"))
    changes = frame(
        spark,
        {"id": 0, "at": 9, "gone": False},  # newer
        {"id": 1, "at": 1, "gone": False},  # older: kept as it was
        {"id": 2, "at": 9, "gone": True},  # deleted
        {"id": 3, "at": 9, "gone": None},  # a null flag is not a delete
        {"id": 7, "at": 1, "gone": None},  # inserted although the flag is null
        {"id": 8, "at": 1, "gone": True},  # deletes nothing, inserts nothing
        schema=schema,
    )

    result = landed(
        load(
            changes,
            tmp_path / "t",
            "Upsert",
            mergeKeys='["id"]',
            updateCondition="source.at > target.at",
            deleteCondition="source.gone",
        )
    )

    assert (result.rows_read, result.rows_inserted, result.rows_updated, result.rows_deleted) == (6, 1, 2, 1)
    assert both(spark, tmp_path / "t") == [
        {"id": 0, "at": 9, "gone": False},
        {"id": 1, "at": 5, "gone": False},
        {"id": 3, "at": 9, "gone": None},
        {"id": 7, "at": 1, "gone": None},
    ]


def test_a_delete_condition_that_names_the_target_drops_no_new_row(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(frame(spark, {"id": 1, "n": 1}), tmp_path / "t", "Append"))

    changes = frame(spark, {"id": 1, "n": 5}, {"id": 2, "n": 5})
    landed(load(changes, tmp_path / "t", "Upsert", mergeKeys="id", deleteCondition="source.n > target.n"))

    assert both(spark, tmp_path / "t") == [{"id": 2, "n": 5}]


def test_null_keys_match_null_keys(spark: SparkSession, tmp_path: Path) -> None:
    schema = "a int, b string, n int"
    landed(load(frame(spark, {"a": None, "b": "x", "n": 1}, schema=schema), tmp_path / "t", "Append"))

    result = landed(
        load(frame(spark, {"a": None, "b": "x", "n": 2}, schema=schema), tmp_path / "t", "Upsert", mergeKeys=["a", "b"])
    )

    assert (result.rows_inserted, result.rows_updated) == (0, 1)
    assert both(spark, tmp_path / "t") == [{"a": None, "b": "x", "n": 2}]


def test_an_upsert_without_a_table_makes_it_and_leaves_deleted_rows_out(spark: SparkSession, tmp_path: Path) -> None:
    rows = frame(spark, {"id": 1, "gone": True}, {"id": 2, "gone": None}, schema="id int, gone boolean")

    result = landed(load(rows, tmp_path / "t", "Upsert", mergeKeys="id", deleteCondition="source.gone"))

    assert (result.version, result.rows_read, result.rows_inserted) == (0, 2, 1)
    assert both(spark, tmp_path / "t") == [{"id": 2, "gone": None}]


def test_names_with_spaces_quotes_and_braces_are_only_names(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "it's a `table` {x}"
    key = "select -- /* 'key' */ {y}; ü"
    properties = {"delta.columnMapping.mode": "name", "delta.minReaderVersion": "2", "delta.minWriterVersion": "5"}
    frame(spark, {key: 1, "n": 1}).write.format("delta").options(**properties).save(str(path))

    landed(load(frame(spark, {key: 1, "n": 2}, {key: 2, "n": 3}), path, "Upsert", mergeKeys=[key]))

    assert both(spark, path) == [{key: 1, "n": 2}, {key: 2, "n": 3}]


def test_every_commit_says_where_it_came_from_and_plain_ones_carry_no_mark(spark: SparkSession, tmp_path: Path) -> None:
    rows = frame(spark, {"id": 1})
    landed(load(rows, tmp_path / "t", "Append"))
    landed(load(rows, tmp_path / "t", "Overwrite"))
    landed(load(rows, tmp_path / "t", "Upsert", mergeKeys="id"))

    commits = list(deltaworks.open_table(tmp_path / "t").history())
    assert [commit.operation for commit in commits] == ["MERGE", "WRITE", "WRITE"]
    assert all(commit.marks == () for commit in commits)
    assert len({commit.ours.run_id for commit in commits if commit.ours}) == 3
    assert {commit.ours.schema for commit in commits if commit.ours} == {fingerprint(rows.schema.json())}
    assert spark.conf.get("spark.databricks.delta.commitInfo.userMetadata", None) is None


def test_a_stamp_does_not_stay_in_the_session(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(frame(spark, {"id": 1}), tmp_path / "t", "Append"))
    landed(load(frame(spark, {"id": 1}), tmp_path / "t", "Upsert", mergeKeys="id", key="k"))

    spark.sql(f"DELETE FROM delta.`{tmp_path}/t`")

    newest = next(iter(deltaworks.open_table(tmp_path / "t").history()))
    assert (newest.operation, newest.ours, newest.marks) == ("DELETE", None, ())


@pytest.mark.parametrize(("mode", "params"), [("Append", {}), ("Overwrite", {}), ("Upsert", {"mergeKeys": "id"})])
def test_a_key_lands_once_in_every_mode(spark: SparkSession, tmp_path: Path, mode: str, params: dict[str, Any]) -> None:
    landed(load(frame(spark, {"id": 0}), tmp_path / "t", "Append"))
    first = landed(load(frame(spark, {"id": 1}), tmp_path / "t", mode, key="2024-01-01", **params))
    before = both(spark, tmp_path / "t")

    second = landed(load(frame(spark, {"id": 1}), tmp_path / "t", mode, key="2024-01-01", **params))

    assert not first.already_landed
    assert (second.already_landed, second.version) == (True, 1)
    assert both(spark, tmp_path / "t") == before
    commit = deltaworks.open_table(tmp_path / "t").log.commit(1)
    assert [(mark.app_id, mark.version) for mark in commit.marks] == [("deltaworks/orders#2024-01-01", 1)]


@pytest.mark.parametrize(("mode", "params"), [("Append", {}), ("Overwrite", {}), ("Upsert", {"mergeKeys": "id"})])
def test_a_key_without_rows_lands_too(spark: SparkSession, tmp_path: Path, mode: str, params: dict[str, Any]) -> None:
    landed(load(frame(spark, {"id": 0}), tmp_path / "t", "Append"))
    nothing = frame(spark, {"id": 1}).where("id > 1")

    first = landed(load(nothing, tmp_path / "t", mode, key="k", **params))
    second = landed(load(nothing, tmp_path / "t", mode, key="k", **params))

    assert (first.already_landed, first.rows_inserted) == (False, 0)
    assert (second.already_landed, second.version) == (True, first.version)


def test_a_plain_load_without_rows_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(frame(spark, {"id": 0}), tmp_path / "t", "Append"))

    result = landed(load(frame(spark, {"id": 1}).where("id > 1"), tmp_path / "t", "Append"))

    assert (result.version, result.rows_inserted) == (0, 0)


def test_a_failure_in_the_middle_leaves_the_table_at_its_version(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(frame(spark, {"id": 0}), tmp_path / "t", "Append"))
    bad = spark.range(0, 100_000, 1, 8).selectExpr("if(id = 99999, raise_error('boom'), id) AS id")

    result = load(bad, tmp_path / "t", "Append")

    assert not result.success
    assert "boom" in (result.error or "")
    assert deltaworks.open_table(tmp_path / "t").version == 0
    assert both(spark, tmp_path / "t") == [{"id": 0}]
    landed(load(frame(spark, {"id": 1}), tmp_path / "t", "Append"))


@pytest.mark.parametrize(
    ("rows", "mode", "params", "error", "hint"),
    [
        ({"id": 1}, "Upsert", {"mergeKeys": "idd"}, "load.mergeKeys: There is no column 'idd'.", "Columns there: id."),
        (
            {"id": 1},
            "Append",
            {"partitionBy": "day"},
            "load.partitionBy: There is no column 'day'.",
            "Columns there: id.",
        ),
        ({"id": 1, "n": 2}, "Append", {"partitionBy": "n"}, "partitionBy is ['n'], but", "Leave partitionBy out"),
        ({"id": 1, "new": 2}, "Append", {}, "has no column 'new'", "Columns there: id, n."),
        ({"id": 1}, "Upsert", {"mergeKeys": "id"}, "the rows lack 'n'", "withColumn"),
        (
            {"id": 1, "n": 1},
            "Upsert",
            {"mergeKeys": "id", "updateCondition": "source.x > 1"},
            "no column 'source.x'",
            "target.n",
        ),
        (
            {"id": 1, "n": 1},
            "Upsert",
            {"mergeKeys": "id", "deleteCondition": "source.n > > 1"},
            "load.deleteCondition",
            "",
        ),
        (
            {"id": "text", "n": 1},
            "Append",
            {},
            "column 'id' is string in the rows and bigint in the table",
            "Cast with a cast transform.",
        ),
        ({"id": 1}, "Upsert", {}, "Upsert needs mergeKeys", "mergeKeys"),
        ({"id": 1}, "Append", {"mergeKeys": "id"}, "mergeKeys does nothing with Append", "Upsert"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is(
    spark: SparkSession, tmp_path: Path, rows: dict[str, Any], mode: str, params: dict[str, Any], error: str, hint: str
) -> None:
    landed(load(frame(spark, {"id": 0, "n": 0}), tmp_path / "t", "Append"))
    files = set((tmp_path / "t").rglob("*"))

    result = load(frame(spark, rows), tmp_path / "t", mode, **params)

    assert not result.success
    assert error in (result.error or "")
    assert hint in (result.hint or "")
    assert set((tmp_path / "t").rglob("*")) == files


def test_a_column_without_a_type_is_refused_instead_of_left_out(spark: SparkSession, tmp_path: Path) -> None:
    result = load(frame(spark, {"id": 1}).selectExpr("id", "NULL AS n"), tmp_path / "t", "Append")

    assert (result.success, result.error) == (False, "load: Column 'n' has no type: it is only NULL.")
    assert not (tmp_path / "t").exists()


def test_a_table_that_another_writer_made_meanwhile_is_merged_into(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = frame(spark, {"id": 1, "n": 1})
    meanwhile(monkeypatch, lambda: theirs.write.format("delta").save(str(tmp_path / "t")))

    result = landed(load(frame(spark, {"id": 1, "n": 2}), tmp_path / "t", "Upsert", mergeKeys="id"))

    assert (result.version, result.rows_updated, result.attempts) == (1, 1, 2)
    assert both(spark, tmp_path / "t") == [{"id": 1, "n": 2}]


def test_a_load_that_may_not_try_again_gives_up_and_says_so(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = frame(spark, {"id": 1})
    meanwhile(monkeypatch, lambda: theirs.write.format("delta").save(str(tmp_path / "t")))

    result = load(frame(spark, {"id": 2}), tmp_path / "t", "Upsert", mergeKeys="id", maxCommitAttempts=1)

    assert not result.success
    assert "another writer was faster" in (result.error or "")
    assert both(spark, tmp_path / "t") == [{"id": 1}]


def test_a_mark_that_was_passed_over_is_not_taken_for_landed(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    rows = frame(spark, {"id": 1})
    mark = Mark("deltaworks/orders#k", 1)
    rows.write.format("delta").options(txnAppId=mark.app_id, txnVersion="5").save(str(path))
    sink = checked(
        LoadPart, Document({"load": {"sinkType": "DeltaLake", "path": str(path)}, "writeMode": "Append"})
    ).load

    with pytest.raises(RunError, match=r"did not land in .* although Spark raised no error"):
        sink.write(
            Batch(rows=rows), WriteMode.APPEND, Commit(run_id="r", pipeline="orders", key="k", mark=mark, seen=0)
        )

    assert both(spark, path) == [{"id": 1}]


def test_a_key_needs_a_pipeline(spark: SparkSession, tmp_path: Path) -> None:
    config = {"sinkType": "DeltaLake", "connectionParams": {"path": str(tmp_path / "t")}}

    result = deltaworks.load(frame(spark, {"id": 1}), config, "Append", key="k")

    assert result.error == "A key needs a pipeline_id."


def test_the_metadata_of_a_commit_is_one_line_of_json(spark: SparkSession, tmp_path: Path) -> None:
    landed(load(frame(spark, {"id": 1}), tmp_path / "t", "Append", key="k"))

    text = (tmp_path / "t/_delta_log/00000000000000000000.json").read_text()
    info = next(json.loads(line)["commitInfo"] for line in text.splitlines() if "commitInfo" in line)
    assert list(json.loads(info["userMetadata"])) == [
        "deltaworks",
        "pipeline",
        "run",
        "batch",
        "position",
        "key",
        "attempt",
        "schema",
        "user",
        "host",
        "seen",
    ]
    assert "\n" not in info["userMetadata"]
