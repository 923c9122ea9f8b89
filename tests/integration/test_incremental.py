"""Pipelines that go on where the last batch ended: nothing lost, nothing twice, and whoever did not land is told."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

import deltaworks
from deltaworks.errors import ConfigError, RefusedError
from deltaworks.lake.positions import PositionLostError, RecreatedError, ReplacedError, TakenBackError
from deltaworks.pipeline.incremental import OtherSourceError, RenamedError, TakenOverError
from tests.integration.increments import (
    batches,
    broken_off,
    changed,
    following,
    ids,
    insert,
    meanwhile,
    pipeline,
    run,
    table,
)
from tests.integration.rows import both, stored

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture
def source(spark: SparkSession, tmp_path: Path) -> Path:
    """A table with two rows."""
    return table(spark, tmp_path / "in", "(1), (2)")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


# What a commit says


def test_every_batch_says_where_it_begins_and_ends(spark: SparkSession, source: Path, out: Path) -> None:
    run(spark, following(source), out)
    insert(spark, source, "(3)")
    result = run(spark, following(source), out)

    first, second = batches(out)
    assert first.ours
    assert second.ours
    assert [each.marks[0].version for each in (first, second)] == [1, 2]
    assert (second.ours.run_id, second.ours.batch, second.ours.pipeline) == (result.run_id, 2, "orders")
    assert first.ours.position
    assert second.ours.position
    assert first.ours.position.end == second.ours.position.start
    assert second.ours.position.source == f"delta:{deltaworks.open_table(source).id}"
    assert second.ours.seen == first.version


def test_a_run_with_nothing_new_says_since_when_and_where_both_ends_are(
    spark: SparkSession, source: Path, out: Path
) -> None:
    run(spark, following(source), out)
    version = deltaworks.open_table(out).version

    result = run(spark, following(source), out)

    assert result.standing
    assert (result.load.batches, result.load.rows_read, result.standing.batch) == (0, 0, 1)
    assert (result.standing.position, result.standing.end) == ("version 2", "version 2")
    assert result.standing.since.endswith("UTC")
    assert deltaworks.open_table(out).version == version


# Two copies


def test_of_two_copies_one_lands_and_the_other_is_told_who_took_over(
    spark: SparkSession, source: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others: list[str] = []
    meanwhile(monkeypatch, "before_batch", lambda: others.append(run(spark, following(source), out).run_id))

    with pytest.raises(TakenOverError) as told:
        run(spark, following(source), out)

    assert others[0] in str(told.value)
    assert ids(both(spark, out)) == [1, 2]


def test_copies_whose_batches_end_at_different_points_lose_nothing(
    spark: SparkSession, source: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(spark, following(source), out)
    insert(spark, source, "(3)")

    def another() -> None:
        insert(spark, source, "(4)")
        run(spark, following(source), out)

    meanwhile(monkeypatch, "before_commit", another)
    with pytest.raises(TakenOverError, match="batch 2 of this run did not land"):
        run(spark, following(source), out)

    assert ids(both(spark, out)) == [1, 2, 3, 4]
    assert run(spark, following(source), out).load.batches == 0
    assert len(batches(out)) == 2


def test_a_copy_that_was_overtaken_earlier_stops_before_it_writes(
    spark: SparkSession, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = following(table(spark, tmp_path / "many", "(1)", "(2)", "(3)"), {"maxFilesPerBatch": 1})
    meanwhile(monkeypatch, "after_batch", lambda: run(spark, source, out))

    with pytest.raises(TakenOverError, match="batch 2"):
        run(spark, source, out)

    assert ids(both(spark, out)) == [1, 2, 3]


# Broken off


@pytest.mark.parametrize("step", ["before_batch", "before_commit", "after_commit", "before_cache", "after_batch"])
@pytest.mark.parametrize("mode", ["Append", "Upsert"])
def test_a_run_broken_off_anywhere_loses_and_doubles_nothing(
    spark: SparkSession, source: Path, out: Path, monkeypatch: pytest.MonkeyPatch, step: str, mode: str
) -> None:
    load: dict[str, Any] = {"load": {"mergeKeys": "id"}} if mode == "Upsert" else {}
    run(spark, following(source), out, mode, **load)
    insert(spark, source, "(3), (4)")
    with broken_off(monkeypatch, step):
        run(spark, following(source), out, mode, **load)

    insert(spark, source, "(5)")
    run(spark, following(source), out, mode, **load)

    assert ids(both(spark, out)) == [1, 2, 3, 4, 5]
    assert run(spark, following(source), out, mode, **load).load.batches == 0


def test_a_lost_cache_costs_a_look_and_no_row(spark: SparkSession, source: Path, out: Path) -> None:
    run(spark, following(source), out)
    insert(spark, source, "(3)")
    shutil.rmtree(out / "_deltaworks")

    run(spark, following(source), out)

    assert ids(both(spark, out)) == [1, 2, 3]
    assert (out / "_deltaworks" / "orders.json").exists()


@pytest.mark.parametrize("text", ["", "{", '{"batch": 1}', "[]", "null"])
def test_a_cache_that_says_nothing_is_passed_over(spark: SparkSession, source: Path, out: Path, text: str) -> None:
    run(spark, following(source), out)
    insert(spark, source, "(3)")
    (out / "_deltaworks" / "orders.json").write_text(text)

    run(spark, following(source), out)

    assert ids(both(spark, out)) == [1, 2, 3]


def test_a_cache_that_lies_is_found_out(spark: SparkSession, source: Path, out: Path) -> None:
    run(spark, following(source), out)
    cache = out / "_deltaworks" / "orders.json"
    lie = json.loads(cache.read_text())
    lie["position"]["to"]["version"] += 1
    insert(spark, source, "(3)")
    cache.write_text(json.dumps(lie))

    run(spark, following(source), out)

    assert ids(both(spark, out)) == [1, 2, 3]


# The table under the position


def test_a_table_that_was_restored_is_refused(spark: SparkSession, source: Path, out: Path) -> None:
    run(spark, following(source), out)
    insert(spark, source, "(3)")
    run(spark, following(source), out)
    changed(spark, out, "RESTORE TABLE it TO VERSION AS OF 0")

    with pytest.raises(TakenBackError, match="batch 2 as version 1") as told:
        run(spark, following(source), out)

    assert "state rewind" in told.value.hint
    assert ids(stored(out)) == [1, 2]


def test_a_restore_that_took_nothing_of_ours_back_is_no_hindrance(spark: SparkSession, source: Path, out: Path) -> None:
    run(spark, following(source), out)
    insert(spark, out, "(9)")
    changed(spark, out, "RESTORE TABLE it TO VERSION AS OF 0")
    insert(spark, source, "(3)")

    run(spark, following(source), out)

    assert ids(both(spark, out)) == [1, 2, 3]


def test_a_restore_while_a_batch_is_on_its_way_is_told_by_the_next_run(
    spark: SparkSession, source: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(spark, following(source), out)
    insert(spark, source, "(3)")
    run(spark, following(source), out)
    insert(spark, source, "(4)")
    meanwhile(monkeypatch, "before_commit", lambda: changed(spark, out, "RESTORE TABLE it TO VERSION AS OF 0"))
    run(spark, following(source), out)

    with pytest.raises(TakenBackError):
        run(spark, following(source), out)


@pytest.mark.parametrize("made_anew", [True, False])
def test_a_table_that_was_dropped_and_made_anew_is_refused(
    spark: SparkSession, source: Path, out: Path, made_anew: bool
) -> None:
    run(spark, following(source), out)
    shutil.rmtree(out / "_delta_log")
    if made_anew:
        write_deltalake(out, pa.table({"id": pa.array([9], pa.int32())}))

    with pytest.raises(RecreatedError, match="dropped, replaced or made anew"):
        run(spark, following(source), out)


def test_a_table_that_was_replaced_is_refused(spark: SparkSession, source: Path, out: Path) -> None:
    run(spark, following(source), out)
    changed(spark, out, f"REPLACE TABLE it (id INT) USING delta LOCATION '{out}'")
    insert(spark, source, "(3)")

    with pytest.raises(RefusedError, match="dropped, replaced or made anew"):
        run(spark, following(source), out)


@pytest.mark.parametrize("made_anew", [False, True])
def test_a_table_that_is_dropped_or_replaced_while_a_batch_is_on_its_way_gets_nothing_of_it(
    spark: SparkSession, source: Path, out: Path, monkeypatch: pytest.MonkeyPatch, made_anew: bool
) -> None:
    run(spark, following(source), out)
    insert(spark, source, "(3)")

    def act() -> None:
        if made_anew:
            changed(spark, out, f"REPLACE TABLE it (id INT) USING delta LOCATION '{out}'")
        else:
            shutil.rmtree(out)

    meanwhile(monkeypatch, "before_batch", act)
    with pytest.raises(RecreatedError, match="dropped, replaced or made anew"):
        run(spark, following(source), out)

    assert not out.exists() or stored(out) == []
    run(spark, following(source), out, full_refresh=True)
    assert ids(both(spark, out)) == [1, 2, 3]


def test_a_table_that_is_replaced_in_the_moment_before_a_commit_is_told_by_the_next_run(
    spark: SparkSession, source: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(spark, following(source), out)
    insert(spark, source, "(3)")
    replace = f"REPLACE TABLE it (id INT) USING delta LOCATION '{out}'"
    meanwhile(monkeypatch, "before_commit", lambda: changed(spark, out, replace))
    run(spark, following(source), out)

    with pytest.raises(RecreatedError, match="had landed batch 2"):
        run(spark, following(source), out)


def test_of_two_pipelines_into_one_table_a_full_refresh_of_one_is_told_to_the_other(
    spark: SparkSession, source: Path, out: Path, tmp_path: Path
) -> None:
    other = table(spark, tmp_path / "more", "(7)")
    run(spark, following(source), out)
    run(spark, following(other), out, pipelineId="more")
    run(spark, following(other), out, pipelineId="more", full_refresh=True)
    insert(spark, source, "(3)")

    with pytest.raises(ReplacedError, match="up to batch 1 were replaced by a full refresh of another pipeline: more"):
        run(spark, following(source), out)

    assert ids(both(spark, out)) == [7]


def test_a_full_refresh_takes_the_place_of_what_landed_while_it_began_too(
    spark: SparkSession, source: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(spark, following(source), out)
    insert(spark, source, "(3)")
    meanwhile(monkeypatch, "before_decision", lambda: run(spark, following(source), out))

    run(spark, following(source), out, full_refresh=True)

    assert ids(both(spark, out)) == [1, 2, 3]
    assert [mark.version for each in batches(out) for mark in each.marks] == [1, 2, 3]


def test_a_table_that_forgets_marks_is_refused(spark: SparkSession, source: Path, out: Path) -> None:
    run(spark, following(source), out)
    changed(spark, out, "ALTER TABLE it SET TBLPROPERTIES (delta.setTransactionRetentionDuration = 'interval 1 day')")

    with pytest.raises(RefusedError, match="forgets which loads have landed"):
        run(spark, following(source), out)


def test_a_position_that_nobody_knows_any_more_is_told(spark: SparkSession, source: Path, out: Path) -> None:
    run(spark, following(source), out)
    insert(spark, out, "(9)")
    changed(spark, out, "OPTIMIZE it")
    _summed_up_without_commits(spark, out)
    shutil.rmtree(out / "_deltaworks")

    with pytest.raises(PositionLostError, match="holds batch 1"):
        run(spark, following(source), out)


def test_a_commit_that_log_clean_up_took_is_known_by_the_cache(spark: SparkSession, source: Path, out: Path) -> None:
    run(spark, following(source), out)
    insert(spark, out, "(9)")
    _summed_up_without_commits(spark, out)
    insert(spark, source, "(3)")

    run(spark, following(source), out)

    assert ids(both(spark, out)) == [1, 2, 3, 9]


def _summed_up_without_commits(spark: SparkSession, path: Path) -> None:
    """Sum the log up, and remove the commits before, as log clean-up does after a month."""
    from deltalake import DeltaTable

    found = DeltaTable(path)
    found.create_checkpoint()
    for version in range(found.version()):
        (path / "_delta_log" / f"{version:020}.json").unlink()
        (path / "_delta_log" / f"{version:020}.crc").unlink(missing_ok=True)


# The source under the position


def test_another_source_is_refused(spark: SparkSession, source: Path, out: Path, tmp_path: Path) -> None:
    run(spark, following(source), out)
    other = table(spark, tmp_path / "other", "(3)")

    with pytest.raises(OtherSourceError, match="its position means nothing there"):
        run(spark, following(other), out)

    assert ids(stored(out)) == [1, 2]


def test_a_pipeline_under_a_new_name_does_not_load_everything_again(
    spark: SparkSession, source: Path, out: Path
) -> None:
    run(spark, following(source), out)

    with pytest.raises(RenamedError) as told:
        run(spark, following(source), out, pipelineId="renamed")

    assert "state adopt FILE orders" in told.value.hint
    assert ids(stored(out)) == [1, 2]


def test_another_pipeline_may_read_another_source_into_the_same_table(
    spark: SparkSession, source: Path, out: Path, tmp_path: Path
) -> None:
    run(spark, following(source), out)
    run(spark, following(table(spark, tmp_path / "other", "(3)")), out, pipelineId="more")
    insert(spark, source, "(4)")

    run(spark, following(source), out)

    assert ids(both(spark, out)) == [1, 2, 3, 4]


# All anew, and ranges


@pytest.mark.parametrize("mode", ["Append", "Upsert"])
def test_a_full_refresh_puts_all_rows_in_place_and_goes_on_from_there(
    spark: SparkSession, source: Path, out: Path, mode: str
) -> None:
    load: dict[str, Any] = {"load": {"mergeKeys": "id"}} if mode == "Upsert" else {}
    run(spark, following(source), out, mode, **load)
    insert(spark, out, "(9)")
    insert(spark, source, "(3)")

    result = run(spark, following(source), out, mode, full_refresh=True, **load)

    assert ids(both(spark, out)) == [1, 2, 3]
    assert (result.load.rows_deleted, result.load.rows_inserted, result.load.batches) == (3, 3, 1)
    insert(spark, source, "(4)")
    assert run(spark, following(source), out, mode, **load).load.rows_inserted == 1
    assert [each.marks[0].version for each in batches(out)] == [1, 2, 3]


def test_a_full_refresh_takes_what_is_refused_otherwise(
    spark: SparkSession, source: Path, out: Path, tmp_path: Path
) -> None:
    run(spark, following(source), out)
    insert(spark, source, "(3)")
    run(spark, following(source), out)
    changed(spark, out, "RESTORE TABLE it TO VERSION AS OF 0")
    other = table(spark, tmp_path / "other", "(7)")

    run(spark, following(other), out, full_refresh=True)
    insert(spark, other, "(8)")
    run(spark, following(other), out)

    assert ids(both(spark, out)) == [7, 8]


def test_a_range_lands_once_and_moves_no_position(spark: SparkSession, out: Path, tmp_path: Path) -> None:
    source = table(spark, tmp_path / "feed", "(1, 1)", "(2, 1)", columns="id INT, n INT", feed=True)
    feed = following(source, readChangeFeed=True)
    load: dict[str, Any] = {"load": {"mergeKeys": "id"}}
    before = run(spark, feed, out, "Upsert", **load)
    changed(spark, out, "UPDATE it SET n = 0")

    first = run(spark, feed, out, "Upsert", between=("1", "1"), **load)
    again = run(spark, feed, out, "Upsert", between=("1", "1"), **load)

    assert both(spark, out) == [{"id": 1, "n": 1}, {"id": 2, "n": 0}]
    assert (first.load.rows_updated, first.load.already_landed, again.load.already_landed) == (1, False, True)
    after = run(spark, feed, out, "Upsert", **load)
    assert after.standing
    assert before.standing
    assert after.standing.position == before.standing.position


# Ways of writing


def test_a_batch_replaces_exactly_the_partitions_it_holds(spark: SparkSession, out: Path, tmp_path: Path) -> None:
    source = table(spark, tmp_path / "days", "(1, 'mon'), (2, 'tue')", columns="id INT, day STRING")
    load: dict[str, Any] = {"load": {"partitionBy": "day", "partitionOverwriteMode": "dynamic"}}
    run(spark, following(source), out, "Overwrite", **load)
    insert(spark, source, "(3, 'tue'), (4, 'wed')")

    run(spark, following(source), out, "Overwrite", **load)

    assert both(spark, out) == [{"id": 1, "day": "mon"}, {"id": 3, "day": "tue"}, {"id": 4, "day": "wed"}]


def test_the_plan_says_that_a_batch_replaces_partitions(spark: SparkSession, out: Path, tmp_path: Path) -> None:
    source = table(spark, tmp_path / "days", "(1, 'mon')", columns="id INT, day STRING")
    load = {"partitionBy": "day", "partitionOverwriteMode": "dynamic"}
    file = tmp_path / "orders.json"
    file.write_text(json.dumps(pipeline(following(source), out, "Overwrite", load=load)))

    plan = deltaworks.plan(file, spark=spark)

    assert any("whole partitions" in note for note in (*plan.notes, *plan.write.notes))


SMALL: dict[str, Any] = {"expect": [{"name": "small", "check": "id < 10", "onFailure": "setAside"}]}


def set_aside(spark: SparkSession, out: Path) -> set[tuple[str, str, int]]:
    """The rows beside the table, each there once."""
    found = [(row["row"], row["run"], row["batch"]) for row in both(spark, out.with_name("out_aside"))]
    assert len({row for row, _, _ in found}) == len(found)
    return set(found)


def test_rows_of_a_batch_are_set_aside_once_however_often_it_is_tried(
    spark: SparkSession, source: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(spark, following(source), out, **SMALL)
    insert(spark, source, "(3), (30)")
    with broken_off(monkeypatch, "after_aside"):
        run(spark, following(source), out, **SMALL)
    insert(spark, source, "(4), (40)")

    result = run(spark, following(source), out, **SMALL)

    assert ids(both(spark, out)) == [1, 2, 3, 4]
    assert set_aside(spark, out) == {(f'{{"id":{at}}}', result.run_id, 2) for at in (30, 40)}
    assert result.load.rows_set_aside == 2


def test_what_a_run_left_aside_is_removed_although_the_one_that_landed_was_broken_off_too(
    spark: SparkSession, source: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(spark, following(source), out, **SMALL)
    insert(spark, source, "(3), (30)")
    for step in ("after_aside", "after_landing"):
        with broken_off(monkeypatch, step):
            run(spark, following(source), out, **SMALL)

    run(spark, following(source), out, **SMALL)

    ((row, _, batch),) = set_aside(spark, out)
    assert (row, batch) == ('{"id":30}', 2)


@pytest.mark.parametrize("step", [None, "after_landing"])
def test_a_full_refresh_sets_rows_aside_in_the_place_of_those_from_before(
    spark: SparkSession, source: Path, out: Path, monkeypatch: pytest.MonkeyPatch, step: str | None
) -> None:
    insert(spark, source, "(3), (30)")
    run(spark, following(source), out, **SMALL)
    if step is None:
        run(spark, following(source), out, full_refresh=True, **SMALL)
    else:
        with broken_off(monkeypatch, step):
            run(spark, following(source), out, full_refresh=True, **SMALL)

    run(spark, following(source), out, **SMALL)

    ((row, _, batch),) = set_aside(spark, out)
    assert (row, batch) == ('{"id":30}', 2)


def test_the_other_side_of_a_join_is_read_anew_for_each_batch_and_its_version_kept(
    spark: SparkSession, source: Path, out: Path, tmp_path: Path
) -> None:
    names = table(spark, tmp_path / "names", "(1, 'a')", columns="id INT, name STRING")
    parts: dict[str, Any] = {
        "inputs": {"names": {"sourceType": "DeltaLake", "connectionParams": {"path": str(names)}}},
        "transform": [{"type": "join", "parameters": {"input": "names", "on": ["id"]}}],
    }
    run(spark, following(source), out, **parts)
    insert(spark, names, "(3, 'c')")
    insert(spark, source, "(3)")

    run(spark, following(source), out, **parts)

    assert both(spark, out) == [{"id": 1, "name": "a"}, {"id": 3, "name": "c"}]
    versions = [each.ours.inputs["names"].rpartition(" ")[2] for each in batches(out) if each.ours]
    assert versions == ["1", "2"]


def test_a_transform_over_one_batch_is_done_where_the_file_says_so(
    spark: SparkSession, source: Path, out: Path
) -> None:
    count = {"type": "sql", "perBatch": True, "parameters": {"query": "SELECT count(*) AS id FROM input"}}
    run(spark, following(source), out, transform=[count])
    insert(spark, source, "(3)")
    run(spark, following(source), out, transform=[count])

    assert ids(both(spark, out)) == [1, 2]


# Looking


def test_a_plan_is_about_what_is_new(spark: SparkSession, source: Path, out: Path, tmp_path: Path) -> None:
    run(spark, following(source), out)
    file = tmp_path / "orders.json"
    file.write_text(json.dumps(pipeline(following(source), out)))

    nothing = deltaworks.plan(file, spark=spark)
    insert(spark, source, "(3)")
    something = deltaworks.plan(file, spark=spark)

    assert nothing.reads.startswith("nothing new since 20")
    assert "version 2 up to version 3" in something.reads
    assert ids(stored(out)) == [1, 2]


def test_rows_alone_cannot_be_read_incrementally(spark: SparkSession, source: Path) -> None:
    with pytest.raises(ConfigError, match="no place for a position"):
        deltaworks.extract(following(source), spark=spark)
