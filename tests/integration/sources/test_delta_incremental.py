"""New rows and changes of a Delta table, read on from where the target says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable
from tests.integration.increments import batches, broken_off, changed, following, ids, insert, pipeline, run, table
from tests.integration.rows import both

import deltaworks
from deltaworks.errors import ConfigError, DeltaworksError, RefusedError
from deltaworks.spark.sources.delta_follow import GapError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("elsewhere")
KEYS: dict[str, Any] = {"load": {"mergeKeys": ["id"]}}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Path:
    """A table of three rows, which keeps its changes."""
    return table(spark, tmp_path / "in", "(1, 1), (2, 1), (3, 1)", columns="id INT, n INT", feed=True)


def changes(path: Path, incremental: Any = True, **params: Any) -> dict[str, Any]:
    return following(path, incremental, readChangeFeed=True, **params)


# New rows


def test_new_rows_land_once_over_many_runs(spark: SparkSession, out: Path, tmp_path: Path) -> None:
    path = table(spark, tmp_path / "in", "(1), (2)")
    first = run(spark, following(path), out)
    insert(spark, path, "(3)")
    insert(spark, path, "(4)")
    second = run(spark, following(path), out)
    third = run(spark, following(path), out)

    assert ids(both(spark, out)) == [1, 2, 3, 4]
    assert [each.load.rows_inserted for each in (first, second, third)] == [2, 2, 0]


def test_reading_goes_on_in_the_middle_of_a_version(
    spark: SparkSession, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table(spark, tmp_path / "in")
    spark.range(1, 6, numPartitions=5).selectExpr("CAST(id AS INT) id").write.format("delta").mode("append").save(
        str(path)
    )
    one_file = following(path, {"maxFilesPerBatch": 1})
    with monkeypatch.context() as armed:
        armed.setenv("DELTAWORKS_FAILPOINTS", "after_batch=raise")
        with pytest.raises(deltaworks.DeltaworksError):
            run(spark, one_file, out)
        with pytest.raises(deltaworks.DeltaworksError):
            run(spark, one_file, out)
    assert ids(both(spark, out)) == [1, 2]

    run(spark, one_file, out)

    assert ids(both(spark, out)) == [1, 2, 3, 4, 5]
    assert len(batches(out)) == 5


def test_a_version_without_new_rows_moves_the_position_and_nothing_else(
    spark: SparkSession, out: Path, tmp_path: Path
) -> None:
    path = table(spark, tmp_path / "in", "(1)", "(2)")
    run(spark, following(path), out)
    changed(spark, path, "OPTIMIZE it")

    result = run(spark, following(path), out)
    insert(spark, path, "(3)")
    run(spark, following(path), out)

    assert result.load.rows_inserted == 0
    assert ids(both(spark, out)) == [1, 2, 3]


def test_rows_that_were_changed_are_told_where_only_new_ones_are_read(
    spark: SparkSession, out: Path, tmp_path: Path
) -> None:
    path = table(spark, tmp_path / "in", "(1), (2)")
    run(spark, following(path), out)
    changed(spark, path, "DELETE FROM it WHERE id = 1")

    with pytest.raises(deltaworks.DeltaworksError) as told:
        run(spark, following(path), out)

    assert "readChangeFeed" in told.value.hint
    assert ids(both(spark, out)) == [1, 2]


def test_versions_that_changed_rows_are_passed_over_where_the_file_says_so(
    spark: SparkSession, out: Path, tmp_path: Path
) -> None:
    path = table(spark, tmp_path / "in", "(1), (2)")
    run(spark, following(path), out)
    changed(spark, path, "UPDATE it SET id = 9 WHERE id = 1")
    insert(spark, path, "(3)")

    run(spark, following(path, ignoreChanges=True), out)

    assert ids(both(spark, out)) == [1, 2, 3]


# A refresh from a start


def refreshed(spark: SparkSession, out: Path, path: Path, **params: Any) -> list[Any]:
    """The ids in the target after a full refresh from the second version on."""
    run(spark, following(path, startingVersion=2, **params), out, full_refresh=True)
    return ids(both(spark, out))


@pytest.fixture
def vectors(spark: SparkSession, tmp_path: Path) -> Path:
    """Rows of which some are deleted by a mark beside their file."""
    path = table(spark, tmp_path / "in", "(1)", "(2), (3)")
    changed(spark, path, "ALTER TABLE it SET TBLPROPERTIES (delta.enableDeletionVectors = true)")
    return path


def test_a_refresh_from_a_start_reads_what_was_added_and_compacted_since(
    spark: SparkSession, out: Path, tmp_path: Path
) -> None:
    path = table(spark, tmp_path / "in", "(1)", "(2)", "(3)")
    changed(spark, path, "OPTIMIZE it")
    insert(spark, path, "(4)")
    run(spark, following(path, startingVersion=2), out)
    assert ids(both(spark, out)) == [2, 3, 4]

    assert refreshed(spark, out, path) == [2, 3, 4]
    insert(spark, path, "(5)")
    run(spark, following(path, startingVersion=2), out)
    assert ids(both(spark, out)) == [2, 3, 4, 5]


def test_a_refresh_from_a_start_gives_old_rows_the_columns_of_now(
    spark: SparkSession, out: Path, tmp_path: Path
) -> None:
    path = table(spark, tmp_path / "in", "(1, 1)", "(2, 2)", columns="id INT, n INT")
    changed(spark, path, "OPTIMIZE it")
    changed(spark, path, "ALTER TABLE it ADD COLUMN (first INT FIRST)")
    insert(spark, path, "(7, 3, 3)")

    run(spark, following(path, startingVersion=2), out, full_refresh=True)

    assert both(spark, out) == [{"first": 7, "id": 3, "n": 3}, {"first": None, "id": 2, "n": 2}]
    assert deltaworks.open_table(out).schema.names == ["first", "id", "n"]


def test_a_refresh_from_a_start_is_refused_where_rows_were_changed(
    spark: SparkSession, out: Path, vectors: Path
) -> None:
    changed(spark, vectors, "DELETE FROM it WHERE id = 2")

    with pytest.raises(ConfigError, match=r"rows of the source .* deleted, in version 4") as caught:
        refreshed(spark, out, vectors)

    assert "ignoreChanges: true" in caught.value.hint
    assert not out.exists()


def test_a_refresh_from_a_start_passes_over_what_the_stream_passes_over(
    spark: SparkSession, out: Path, vectors: Path
) -> None:
    changed(spark, vectors, "DELETE FROM it WHERE id = 2")
    insert(spark, vectors, "(4)")
    run(spark, following(vectors, startingVersion=2, ignoreChanges=True), out)
    assert ids(both(spark, out)) == [2, 3, 4]

    assert refreshed(spark, out, vectors, ignoreChanges=True) == [2, 3, 4]
    changed(spark, vectors, "DELETE FROM it WHERE id = 4")
    assert refreshed(spark, out, vectors, ignoreChanges=True) == [2, 3, 4]


@pytest.mark.parametrize("feed", [True, False])
def test_the_file_may_say_to_begin_with_the_first_version(
    spark: SparkSession, out: Path, tmp_path: Path, feed: bool
) -> None:
    path = tmp_path / "in"
    recorded = "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    spark.sql(f"CREATE TABLE delta.`{path}` USING delta {recorded} AS SELECT 1 AS id")
    insert(spark, path, "(2)")
    first = following(path, startingVersion=0, readChangeFeed=feed)

    run(spark, first, out, "Upsert", **KEYS)
    insert(spark, path, "(3)")
    run(spark, first, out, "Upsert", **KEYS)
    assert ids(both(spark, out)) == [1, 2, 3]

    run(spark, first, out, "Upsert", full_refresh=True, **KEYS)
    assert ids(both(spark, out)) == [1, 2, 3]


@pytest.mark.parametrize("feed", [True, False])
def test_a_refresh_from_what_comes_next_takes_all_rows_away_and_goes_on(
    spark: SparkSession, out: Path, tmp_path: Path, feed: bool
) -> None:
    path = table(spark, tmp_path / "in", "(1)", "(2)", feed=feed)
    run(spark, following(path, readChangeFeed=feed), out, "Upsert", **KEYS)
    coming = following(path, startingVersion=3, readChangeFeed=feed)

    run(spark, coming, out, "Upsert", full_refresh=True, **KEYS)
    assert both(spark, out) == []

    insert(spark, path, "(3)")
    run(spark, coming, out, "Upsert", **KEYS)
    assert both(spark, out) == [{"id": 3}]


def test_a_plan_in_the_middle_of_a_version_is_about_the_rest_of_it(
    spark: SparkSession, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table(spark, tmp_path / "in")
    rows = spark.range(1, 6, numPartitions=5).selectExpr("CAST(id AS INT) id")
    rows.write.format("delta").mode("append").save(str(path))
    two_files = following(path, {"maxFilesPerBatch": 2}, startingVersion=0)
    with broken_off(monkeypatch, "after_batch"):
        run(spark, two_files, out, "Upsert", **KEYS)
    changed(spark, path, "OPTIMIZE it")
    file = tmp_path / "orders.json"
    file.write_text(json.dumps(pipeline(two_files, out, "Upsert", **KEYS)))

    plan = deltaworks.plan(file, spark=spark)
    landed = len(both(spark, out))
    run(spark, two_files, out, "Upsert", **KEYS)

    assert (plan.rows, landed) == (3, 2)
    assert ids(both(spark, out)) == [1, 2, 3, 4, 5]


# Changes


def test_changes_drive_an_upsert_deletes_included(spark: SparkSession, feed: Path, out: Path) -> None:
    run(spark, changes(feed), out, "Upsert", **KEYS)
    changed(spark, feed, "UPDATE it SET n = 2 WHERE id = 1")
    changed(spark, feed, "UPDATE it SET n = 3 WHERE id = 1")
    changed(spark, feed, "DELETE FROM it WHERE id = 2")
    insert(spark, feed, "(4, 1)")

    result = run(spark, changes(feed), out, "Upsert", **KEYS)

    assert both(spark, out) == [{"id": 1, "n": 3}, {"id": 3, "n": 1}, {"id": 4, "n": 1}]
    assert (result.load.rows_updated, result.load.rows_deleted, result.load.rows_inserted) == (1, 1, 1)


def test_a_row_that_came_and_went_between_two_runs_leaves_nothing(spark: SparkSession, feed: Path, out: Path) -> None:
    run(spark, changes(feed), out, "Upsert", **KEYS)
    insert(spark, feed, "(4, 1)")
    changed(spark, feed, "DELETE FROM it WHERE id = 4")
    changed(spark, feed, "DELETE FROM it WHERE id = 1")
    insert(spark, feed, "(1, 7)")

    run(spark, changes(feed), out, "Upsert", **KEYS)

    assert both(spark, out) == [{"id": 1, "n": 7}, {"id": 2, "n": 1}, {"id": 3, "n": 1}]


def test_rules_are_about_rows_that_come_and_not_about_those_that_go(spark: SparkSession, feed: Path, out: Path) -> None:
    rules: dict[str, Any] = {**KEYS, "expect": [{"name": "small", "check": "n < 10", "onFailure": "setAside"}]}
    run(spark, changes(feed), out, "Upsert", **rules)
    changed(spark, feed, "UPDATE it SET n = 11 WHERE id = 1")
    changed(spark, feed, "UPDATE it SET n = 12 WHERE id = 2")
    changed(spark, feed, "DELETE FROM it WHERE id = 2")

    result = run(spark, changes(feed), out, "Upsert", **rules)

    assert both(spark, out) == [{"id": 1, "n": 1}, {"id": 3, "n": 1}]
    aside = both(spark, out.with_name("out_aside"))
    assert sorted(json.loads(row["row"])["n"] for row in aside) == [11, 12]
    assert (result.load.rows_set_aside, result.load.rows_deleted) == (2, 1)


def test_a_row_that_was_bad_before_it_was_put_right_keeps_the_rule(spark: SparkSession, feed: Path, out: Path) -> None:
    changed(spark, feed, "UPDATE it SET n = 11 WHERE id = 1")
    run(spark, changes(feed), out, "Upsert", **KEYS)
    changed(spark, feed, "UPDATE it SET n = 2 WHERE id = 1")

    run(spark, changes(feed), out, "Upsert", **KEYS, expect=[{"name": "small", "check": "n < 10"}])

    assert both(spark, out)[0] == {"id": 1, "n": 2}


def test_an_update_of_the_key_takes_the_old_row_away(spark: SparkSession, feed: Path, out: Path) -> None:
    run(spark, changes(feed), out, "Upsert", **KEYS)
    changed(spark, feed, "UPDATE it SET id = 30 WHERE id = 3")

    run(spark, changes(feed), out, "Upsert", **KEYS)

    assert ids(both(spark, out)) == [1, 2, 30]


def test_by_an_order_of_the_file_updates_take_no_row_away_and_deletes_do(
    spark: SparkSession, feed: Path, out: Path
) -> None:
    newest: dict[str, Any] = {"load": {**KEYS["load"], "onDuplicateKeys": "keepNewest", "orderBy": "n"}}
    run(spark, changes(feed), out, "Upsert", **newest)
    changed(spark, feed, "UPDATE it SET n = 0 WHERE id = 1")
    changed(spark, feed, "UPDATE it SET n = 5 WHERE id IN (2, 3)")
    changed(spark, feed, "DELETE FROM it WHERE id = 2")
    changed(spark, feed, "UPDATE it SET n = 4 WHERE id = 3")

    run(spark, changes(feed), out, "Upsert", **newest)

    assert both(spark, out) == [{"id": 1, "n": 0}, {"id": 3, "n": 5}]


def test_the_changes_of_a_table_that_is_new_to_us_begin_with_all_its_rows(
    spark: SparkSession, feed: Path, out: Path
) -> None:
    changed(spark, feed, "DELETE FROM it WHERE id = 2")

    first = run(spark, changes(feed), out, "Upsert", **KEYS)

    assert ids(both(spark, out)) == [1, 3]
    assert first.load.rows_inserted == 2


def test_changes_can_be_kept_as_they_are(spark: SparkSession, feed: Path, out: Path) -> None:
    run(spark, changes(feed), out)
    changed(spark, feed, "UPDATE it SET n = 2 WHERE id = 1")
    run(spark, changes(feed), out)

    found = [(row["_change_type"], row["id"], row["n"]) for row in both(spark, out) if row["_commit_version"] > 1]
    assert sorted(found) == [("update_postimage", 1, 2), ("update_preimage", 1, 1)]


def test_rows_that_no_longer_tell_what_is_gone_are_refused(spark: SparkSession, feed: Path, out: Path) -> None:
    forget = [{"type": "sql", "perBatch": True, "parameters": {"query": "SELECT id, n FROM input"}}]

    with pytest.raises(ConfigError, match="nobody can tell any more"):
        run(spark, changes(feed), out, "Upsert", transform=forget, **KEYS)

    assert not out.exists()


# Gaps


def test_a_table_that_keeps_no_feed_is_told_before_anything_lands(
    spark: SparkSession, out: Path, tmp_path: Path
) -> None:
    path = table(spark, tmp_path / "in", "(1)")

    with pytest.raises(ConfigError, match="change feed"):
        run(spark, changes(path), out, "Upsert", load={"mergeKeys": "id"})

    assert not out.exists()


@pytest.mark.parametrize("feed", [True, False])
def test_the_file_may_say_where_to_begin(spark: SparkSession, out: Path, tmp_path: Path, feed: bool) -> None:
    path = table(spark, tmp_path / "in", "(1)", "(2)", feed=feed)
    at = deltaworks.open_table(path).log.times()[2].isoformat()
    keys: dict[str, Any] = {"load": {"mergeKeys": "id"}}

    run(spark, following(path, startingVersion=2, readChangeFeed=feed), out, "Upsert", **keys)
    run(spark, following(path, startingTimestamp=at, readChangeFeed=feed), out.with_name("by-time"), "Upsert", **keys)

    assert ids(both(spark, out)) == ids(both(spark, out.with_name("by-time"))) == [2]


def test_a_plan_of_changes_is_about_what_is_new(spark: SparkSession, feed: Path, out: Path, tmp_path: Path) -> None:
    run(spark, changes(feed), out, "Upsert", **KEYS)
    changed(spark, feed, "UPDATE it SET n = 2 WHERE id = 1")
    file = tmp_path / "orders.json"
    file.write_text(json.dumps(pipeline(changes(feed), out, "Upsert", **KEYS)))

    plan = deltaworks.plan(file, spark=spark)

    assert plan.reads.startswith("changes of Delta table")
    assert plan.rows == 2  # as the row was, and as it became


def test_a_range_of_changes_may_be_given_by_times(spark: SparkSession, feed: Path, out: Path) -> None:
    run(spark, changes(feed), out, "Upsert", **KEYS)
    changed(spark, out, "DELETE FROM it")
    now = deltaworks.open_table(feed).log.times()
    first, last = (now[version].isoformat() for version in (1, max(now)))

    run(spark, changes(feed), out, "Upsert", between=(first, last), **KEYS)

    assert ids(both(spark, out)) == [1, 2, 3]


def test_new_rows_have_no_range(spark: SparkSession, feed: Path, out: Path) -> None:
    with pytest.raises(ConfigError, match="Only a change feed has a range"):
        run(spark, following(feed), out, between=("1", "2"))


def test_changes_that_vacuum_took_are_told(spark: SparkSession, feed: Path, out: Path) -> None:
    run(spark, changes(feed), out, "Upsert", **KEYS)
    changed(spark, feed, "UPDATE it SET n = 2 WHERE id = 1")
    changed(spark, feed, "UPDATE it SET n = 3 WHERE id = 1")
    for file in (feed / "_change_data").glob("*"):
        file.unlink()

    with pytest.raises(GapError, match="cannot be followed") as told:
        run(spark, changes(feed), out, "Upsert", **KEYS)

    assert "--full-refresh" in told.value.hint
    run(spark, changes(feed), out, "Upsert", full_refresh=True, **KEYS)
    assert both(spark, out) == [{"id": 1, "n": 3}, {"id": 2, "n": 1}, {"id": 3, "n": 1}]


def test_versions_that_log_clean_up_took_are_told(spark: SparkSession, out: Path, tmp_path: Path) -> None:
    path = table(spark, tmp_path / "in", "(1)")
    run(spark, following(path), out)
    for number in (2, 3, 4):
        insert(spark, path, f"({number})")
    DeltaTable(path).create_checkpoint()
    for version in range(3):
        (path / "_delta_log" / f"{version:020}.json").unlink()

    with pytest.raises(GapError, match="log clean-up removed version 2"):
        run(spark, following(path), out)


def test_new_rows_that_vacuum_took_are_told(spark: SparkSession, out: Path, tmp_path: Path) -> None:
    path = table(spark, tmp_path / "in", "(1)")
    run(spark, following(path), out)
    for number in (2, 3):
        insert(spark, path, f"({number})")
    changed(spark, path, "OPTIMIZE it")
    DeltaTable(path).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)

    with pytest.raises(GapError, match="vacuum removed files of version 2, which were not read yet"):
        run(spark, following(path), out)

    run(spark, following(path), out, full_refresh=True)
    assert ids(both(spark, out)) == [1, 2, 3]


def test_a_feed_that_was_turned_off_in_between_is_told(spark: SparkSession, feed: Path, out: Path) -> None:
    run(spark, changes(feed), out, "Upsert", **KEYS)
    changed(spark, feed, "ALTER TABLE it SET TBLPROPERTIES (delta.enableChangeDataFeed = false)")
    insert(spark, feed, "(4, 1)")
    changed(spark, feed, "ALTER TABLE it SET TBLPROPERTIES (delta.enableChangeDataFeed = true)")

    with pytest.raises(RefusedError):
        run(spark, changes(feed), out, "Upsert", **KEYS)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("id, string(n) AS n", "cannot be followed .*column 'n' was renamed, dropped or given another type"),
        ("id, n AS m", "has no column 'm'; the rows lack 'n'"),
        ("id", "the rows lack 'n'"),
    ],
)
def test_columns_that_are_others_now_are_named_and_nothing_lands(
    spark: SparkSession, feed: Path, out: Path, columns: str, said: str
) -> None:
    run(spark, changes(feed), out, "Upsert", **KEYS)
    rows = spark.sql(f"SELECT {columns} FROM delta.`{feed}`")
    rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(str(feed))

    with pytest.raises(DeltaworksError, match=said):
        run(spark, changes(feed), out, "Upsert", **KEYS)

    assert both(spark, out) == [{"id": number, "n": 1} for number in (1, 2, 3)]


def test_a_source_that_was_restored_is_followed_by_its_changes(spark: SparkSession, feed: Path, out: Path) -> None:
    run(spark, changes(feed), out, "Upsert", **KEYS)
    changed(spark, feed, "UPDATE it SET n = 2 WHERE id = 1")
    changed(spark, feed, "RESTORE TABLE it TO VERSION AS OF 1")
    insert(spark, feed, "(4, 1)")

    run(spark, changes(feed), out, "Upsert", **KEYS)

    assert both(spark, out) == [{"id": number, "n": 1} for number in (1, 2, 3, 4)]


def test_a_column_that_came_later_lands_with_merge_schema(spark: SparkSession, out: Path, tmp_path: Path) -> None:
    path = table(spark, tmp_path / "in", "(1)")
    load: dict[str, Any] = {"load": {"mergeSchema": True}}
    run(spark, following(path), out, **load)
    changed(spark, path, "ALTER TABLE it ADD COLUMN (n INT)")
    insert(spark, path, "(2, 5)")

    run(spark, following(path), out, **load)

    assert both(spark, out) == [{"id": 1, "n": None}, {"id": 2, "n": 5}]
