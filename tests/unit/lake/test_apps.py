from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from deltalake import DeltaTable
from tests.unit.tables import append, by_hand, clean_up, commit_file, deliver, land

from deltaworks.lake.apps import app_ids
from deltaworks.lake.log import Log

if TYPE_CHECKING:
    from pathlib import Path


def found(path: Path) -> set[str]:
    return app_ids(Log(str(path)))


def test_a_table_without_marks_names_nobody(tmp_path: Path) -> None:
    append(tmp_path)

    assert found(tmp_path) == set()


def test_every_application_is_named_whatever_kind_it_is(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    deliver(tmp_path, 2)
    land(tmp_path, "monday")
    by_hand(tmp_path, {"txn": {"appId": "somebody", "version": 1}})

    assert found(tmp_path) == {"deltaworks/orders", "deltaworks/orders#monday", "somebody"}


def test_what_log_clean_up_took_is_in_the_checkpoint(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    clean_up(tmp_path, before=append(tmp_path))
    deliver(tmp_path, 1, pipeline="returns")

    assert found(tmp_path) == {"deltaworks/orders", "deltaworks/returns"}


def test_a_checkpoint_in_lines_of_json_is_read_too(tmp_path: Path) -> None:
    append(tmp_path)
    by_hand(tmp_path, {"txn": {"appId": "somebody", "version": 1}})
    commit_file(tmp_path, 1).rename(tmp_path / "_delta_log" / f"{1:020}.checkpoint.{'0' * 36}.json")

    assert found(tmp_path) == {"somebody"}


def test_a_checkpoint_of_which_a_part_is_missing_does_not_count(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    append(tmp_path)
    DeltaTable(tmp_path).create_checkpoint()
    whole = commit_file(tmp_path, 1, "checkpoint.parquet")
    first = whole.with_name(f"{1:020}.checkpoint.{1:010}.{2:010}.parquet")
    rows = pq.read_table(whole)
    pq.write_table(rows.slice(0, 0), first)
    whole.unlink()

    assert found(tmp_path) == {"deltaworks/orders"}


def test_a_checkpoint_in_several_parts_counts_when_they_are_all_there(tmp_path: Path) -> None:
    deliver(tmp_path, 1)
    clean_up(tmp_path, before=append(tmp_path))
    whole = commit_file(tmp_path, 1, "checkpoint.parquet")
    rows = pq.read_table(whole)
    for number, part in enumerate((rows.slice(0, 1), rows.slice(1)), 1):
        pq.write_table(part, whole.with_name(f"{1:020}.checkpoint.{number:010}.{2:010}.parquet"))
    whole.unlink()

    assert found(tmp_path) == {"deltaworks/orders"}
