from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from tests.unit.tables import ROWS, append, commit_file, land, rewrite

import deltaworks
from deltaworks.errors import ConfigError, RunError
from deltaworks.lake.table import NotATableError, UnreadableTableError, VersionNotFoundError, open_table

if TYPE_CHECKING:
    from pathlib import Path


def test_a_table_opens_at_its_latest_version(tmp_path: Path) -> None:
    append(tmp_path)
    append(tmp_path)

    table = deltaworks.open_table(tmp_path)

    assert table.version == 1
    assert table.uri == str(tmp_path)
    assert repr(table) == f"Table({str(tmp_path)!r}, version=1)"


def test_an_open_table_stays_its_version(tmp_path: Path) -> None:
    append(tmp_path)
    table = open_table(tmp_path)
    append(tmp_path)

    assert table.rows == 2
    assert [commit.version for commit in table.history()] == [0]


def test_a_table_opens_as_it_was_at_a_version(tmp_path: Path) -> None:
    append(tmp_path)
    append(tmp_path)

    assert open_table(tmp_path, version=0).to_arrow().num_rows == 2
    assert open_table(tmp_path, version=1).to_arrow().num_rows == 4


def test_a_table_opens_as_it_was_at_a_time(tmp_path: Path) -> None:
    append(tmp_path)
    append(tmp_path)
    made = open_table(tmp_path).log.times()

    assert open_table(tmp_path, timestamp=made[0]).version == 0
    assert open_table(tmp_path, timestamp=(made[1] + timedelta(hours=1)).isoformat()).version == 1


def test_a_version_and_a_time_together_are_refused(tmp_path: Path) -> None:
    append(tmp_path)

    with pytest.raises(ConfigError, match="not both"):
        open_table(tmp_path, version=0, timestamp="2024-01-01")


@pytest.mark.parametrize("version", [2, -1])
def test_a_version_that_does_not_exist_says_which_do(tmp_path: Path, version: int) -> None:
    append(tmp_path)
    append(tmp_path)

    with pytest.raises(VersionNotFoundError, match=f"Version {version} of .* does not exist") as caught:
        open_table(tmp_path, version=version)

    assert caught.value.hint == "Versions 0 to 1 do."
    assert caught.value.version == version


def test_a_path_where_nothing_is_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotATableError) as caught:
        open_table(tmp_path / "nothing")

    assert str(caught.value) == f"There is no Delta table at {tmp_path / 'nothing'}."
    assert caught.value.hint.startswith("Nothing is there;")
    assert caught.value.uri == str(tmp_path / "nothing")


def test_a_version_of_what_is_no_table_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotATableError):
        open_table(tmp_path, version=0)


@pytest.mark.parametrize("note", ['{"version": 1}', '{"version": 9}', "{", '{"version": "x"}'])
def test_a_wrong_note_of_the_last_checkpoint_does_no_harm(tmp_path: Path, note: str) -> None:
    for _ in range(3):
        append(tmp_path)
    (tmp_path / "_delta_log" / "_last_checkpoint").write_text(note)

    assert open_table(tmp_path).rows == 3 * len(ROWS)


def test_a_folder_that_is_no_table_says_so(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").mkdir()

    with pytest.raises(NotATableError) as caught:
        open_table(tmp_path)

    assert caught.value.hint.startswith("The folder is there but has no _delta_log;")


def test_a_table_on_other_storage_that_is_not_there_says_so() -> None:
    with pytest.raises(NotATableError) as caught:
        open_table("memory:///nothing")

    assert caught.value.hint.startswith("Nothing is there;")


def test_a_table_that_needs_what_delta_rs_lacks_is_named(tmp_path: Path) -> None:
    append(tmp_path)
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["fromTheFuture"]}
    rewrite(tmp_path, 1, json.dumps({"protocol": {**protocol, "writerFeatures": ["fromTheFuture"]}}))

    with pytest.raises(UnreadableTableError) as caught:
        open_table(tmp_path)

    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, RunError)


def test_a_gap_in_the_log_is_loud(tmp_path: Path) -> None:
    for _ in range(3):
        append(tmp_path)
    commit_file(tmp_path, 1).unlink()

    with pytest.raises(UnreadableTableError):
        open_table(tmp_path)


def test_what_a_table_is_can_be_asked(tmp_path: Path) -> None:
    append(tmp_path, properties={"delta.enableChangeDataFeed": "true"}, partition_by=["name"])

    table = open_table(tmp_path)

    assert table.partition_columns == ("name",)
    assert table.properties == {"delta.enableChangeDataFeed": "true"}
    assert table.schema == pa.schema({"id": pa.int64(), "name": pa.string()})
    assert [column.name for column in table.columns] == ["id", "name"]
    assert json.loads(table.schema_json)["type"] == "struct"
    assert table.id == str(DeltaTable(tmp_path).metadata().id)
    assert table.protocol == (1, 4)
    assert table.features == ()


def test_the_features_of_a_table_are_named(tmp_path: Path) -> None:
    append(tmp_path, pa.table({"at": pa.array([datetime(2024, 1, 1)], pa.timestamp("us"))}))

    assert open_table(tmp_path).features == ("timestampNtz",)
    assert open_table(tmp_path).protocol == (3, 7)


def test_files_and_rows_are_those_of_the_version(tmp_path: Path) -> None:
    append(tmp_path)
    append(tmp_path)

    first, last = open_table(tmp_path, version=0), open_table(tmp_path)

    assert (first.rows, first.files.count) == (2, 1)
    assert (last.rows, last.files.count) == (4, 2)
    assert last.files.bytes == sum(file.stat().st_size for file in tmp_path.glob("*.parquet"))


def test_an_empty_table_has_no_files(tmp_path: Path) -> None:
    append(tmp_path, ROWS.schema.empty_table())

    assert (open_table(tmp_path).rows, open_table(tmp_path).files.count) == (0, 0)


def test_a_scan_chooses_columns_and_rows(tmp_path: Path) -> None:
    append(tmp_path)

    table = open_table(tmp_path)

    assert table.scan(["name"]).read_all().to_pylist() == [{"name": "a"}, {"name": "b"}]
    assert table.scan(where="id = 2").read_all().to_pylist() == [{"id": 2, "name": "b"}]
    assert table.scan(("id",), "name = 'a'").read_all().to_pylist() == [{"id": 1}]


def test_changes_are_read_between_two_versions(tmp_path: Path) -> None:
    append(tmp_path, properties={"delta.enableChangeDataFeed": "true"})
    append(tmp_path, pa.table({"id": [3], "name": ["c"]}))
    DeltaTable(tmp_path).delete("id = 1")

    table = open_table(tmp_path)

    assert kinds(table.changes(1, 1)) == ["insert"]
    assert kinds(table.changes(1)) == ["delete", "insert"]


def test_history_is_newest_first_and_can_be_short(tmp_path: Path) -> None:
    for _ in range(4):
        append(tmp_path)

    table = open_table(tmp_path)

    assert [commit.version for commit in table.history()] == [3, 2, 1, 0]
    assert [commit.version for commit in table.history(2)] == [3, 2]


def test_a_short_history_does_not_read_the_long_one(tmp_path: Path) -> None:
    for _ in range(3):
        append(tmp_path)
    table = open_table(tmp_path)
    rewrite(tmp_path, 0, "damaged")

    assert [commit.version for commit in table.history(2)] == [2, 1]


def test_a_mark_is_how_far_an_application_got(tmp_path: Path) -> None:
    land(tmp_path, "monday", mark=3)

    table = open_table(tmp_path)

    assert table.mark("deltaworks/orders#monday") == 3
    assert table.mark("deltaworks/orders#tuesday") is None


def test_a_recreated_table_has_another_identity(tmp_path: Path) -> None:
    append(tmp_path / "a")
    append(tmp_path / "b")

    assert open_table(tmp_path / "a").id != open_table(tmp_path / "b").id


def test_a_time_before_the_table_is_refused(tmp_path: Path) -> None:
    append(tmp_path)

    with pytest.raises(ConfigError, match="has no version for"):
        open_table(tmp_path, timestamp=datetime(2001, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(("columns", "where"), [(["nme"], None), (None, "nme = 1"), (None, "id ==="), (None, ";")])
def test_a_scan_that_cannot_be_done_is_the_callers_mistake(
    tmp_path: Path, columns: list[str] | None, where: str | None
) -> None:
    append(tmp_path)

    with pytest.raises(ConfigError, match="cannot be read like this") as caught:
        open_table(tmp_path).scan(columns, where)

    assert "\n" not in str(caught.value)


def test_changes_of_a_table_without_a_feed_are_refused(tmp_path: Path) -> None:
    append(tmp_path)

    with pytest.raises(ConfigError, match="does not have change data enabled"):
        open_table(tmp_path).changes(0)


def kinds(changes: pa.RecordBatchReader) -> list[str]:
    return sorted(changes.read_all()["_change_type"].to_pylist())
