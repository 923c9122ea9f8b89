from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError
from tests.unit.tables import append

from deltaworks.lake.commit import Commit, Mark
from deltaworks.lake.mode import WriteMode
from deltaworks.spark.sinks import AnySink
from deltaworks.spark.sinks.delta import DeltaSink
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


@pytest.mark.parametrize("mode", [WriteMode.APPEND, WriteMode.OVERWRITE])
@pytest.mark.parametrize("key", ["mergeKeys", "updateCondition", "deleteCondition"])
def test_what_would_do_nothing_is_refused(mode: WriteMode, key: str) -> None:
    with pytest.raises(PydanticCustomError, match=f"{key} does nothing with {mode.value}"):
        sink("orders", options=None, **{key: "id"}).check_mode(mode)


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
