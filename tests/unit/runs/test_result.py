from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from tests.unit.tables import ROWS, append, rewrite, stamp

import deltaworks
from deltaworks.errors import RefusedError
from deltaworks.lake.log import Log
from deltaworks.runs.result import LoadResult, RunResult

if TYPE_CHECKING:
    from pathlib import Path


def result(path: Path, version: int, rows_read: int | None = None) -> LoadResult:
    return LoadResult.of(Log(str(path)).commit(version), rows_read=rows_read)


def test_the_numbers_of_an_append_come_from_its_commit(tmp_path: Path) -> None:
    version = append(tmp_path)

    landed = result(tmp_path, version)

    assert landed.success
    assert (landed.rows_read, landed.rows_inserted, landed.rows_written) == (2, 2, 2)
    assert (landed.version, landed.files_added, landed.files_removed) == (0, 1, 0)
    assert landed.bytes_added == sum(file.stat().st_size for file in tmp_path.glob("*.parquet"))


def test_rows_that_were_counted_on_the_way_are_the_rows_read(tmp_path: Path) -> None:
    version = append(tmp_path)

    assert result(tmp_path, version, rows_read=5).rows_read == 5
    assert result(tmp_path, version, rows_read=0).rows_read == 0


def test_the_numbers_of_a_merge_come_from_its_commit(tmp_path: Path) -> None:
    append(tmp_path, pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"]}))
    merge = DeltaTable(tmp_path).merge(
        pa.table({"id": [2, 3, 9], "name": ["B", "gone", "new"]}), "t.id = s.id", source_alias="s", target_alias="t"
    )
    merge.when_matched_delete("s.name = 'gone'").when_matched_update_all().when_not_matched_insert_all().execute()

    landed = result(tmp_path, 1, rows_read=99)

    assert landed.rows_read == 3
    assert (landed.rows_inserted, landed.rows_updated, landed.rows_deleted) == (1, 1, 1)


def test_numbers_are_read_as_spark_spells_them(tmp_path: Path) -> None:
    append(tmp_path)
    metrics = {
        "numSourceRows": "5",
        "numTargetRowsInserted": "2",
        "numTargetRowsUpdated": "3",
        "numTargetRowsDeleted": "1",
        "numOutputRows": "9",
    }
    rewrite(tmp_path, 1, json.dumps({"commitInfo": {"operation": "MERGE", "operationMetrics": metrics}}))

    landed = result(tmp_path, 1)

    assert (landed.rows_read, landed.rows_inserted, landed.rows_updated, landed.rows_deleted) == (5, 2, 3, 1)
    assert landed.rows_written == 9


def test_an_overwrite_says_what_it_added(tmp_path: Path) -> None:
    append(tmp_path)
    write_deltalake(tmp_path, ROWS, mode="overwrite")

    landed = result(tmp_path, 1)

    assert (landed.rows_inserted, landed.files_added, landed.files_removed) == (2, 1, 1)


def test_the_attempts_are_those_the_commit_names(tmp_path: Path) -> None:
    append(tmp_path, commit=stamp("run-1"))
    append(tmp_path)
    rewrite(tmp_path, 2, json.dumps({"commitInfo": {"userMetadata": '{"deltaworks":1,"run":"r","attempt":4}'}}))

    assert [result(tmp_path, version).attempts for version in range(3)] == [1, 1, 4]


def test_a_key_that_had_landed_writes_nothing() -> None:
    before = LoadResult.landed_before(3)

    assert (before.success, before.already_landed, before.version) == (True, True, 3)
    assert (before.rows_read, before.rows_written) == (0, 0)


def test_a_failure_says_why_and_what_to_do() -> None:
    failed = LoadResult.failure(RefusedError("Not done.", hint="Insist."), attempts=2)

    assert (failed.success, failed.error, failed.hint, failed.attempts) == (False, "Not done.", "Insist.", 2)


def test_a_duration_is_rounded_to_milliseconds() -> None:
    assert LoadResult(success=True).after(1.23456).seconds == 1.235


def test_a_run_result_is_flat_json() -> None:
    run = RunResult(
        run_id="run-1", pipeline_id="orders", load=deltaworks.LoadResult(success=True, version=2), record="x"
    )

    told = json.loads(json.dumps(run.to_dict()))

    assert run.success
    assert (told["run_id"], told["pipeline_id"], told["record"], told["version"]) == ("run-1", "orders", "x", 2)
