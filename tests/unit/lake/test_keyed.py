from __future__ import annotations

import json
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from tests.unit.tables import append, by_hand, clean_up, commit_file, land, restore, rewrite, stamp

from deltaworks.errors import RefusedError
from deltaworks.lake.commit import Mark
from deltaworks.lake.keyed import KeyedMark, KeyGoneError, LandedKey, keyed_mark
from deltaworks.lake.table import open_table

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

MONDAY = "deltaworks/orders#monday"


def mark(path: Path, *, again: bool = False, key: str = "monday") -> KeyedMark:
    return keyed_mark(open_table(path), "orders", key, again=again)


def made(path: Path, version: int) -> datetime:
    return open_table(path).log.times()[version]


# Keys


def test_a_key_of_a_table_that_is_not_there_yet_is_free() -> None:
    assert keyed_mark(None, "orders", "monday", again=False) == KeyedMark(Mark(MONDAY, 1), None)


def test_a_key_that_never_landed_is_free(tmp_path: Path) -> None:
    land(tmp_path, "sunday")

    assert mark(tmp_path) == KeyedMark(Mark(MONDAY, 1), None)


def test_a_key_of_another_pipeline_is_free(tmp_path: Path) -> None:
    append(tmp_path, commit=stamp("run-1", key="monday", pipeline="returns"))

    assert mark(tmp_path).landed is None


def test_a_key_that_landed_says_where_and_by_which_run(tmp_path: Path) -> None:
    append(tmp_path)
    land(tmp_path, "monday", run="run-7")
    append(tmp_path)

    assert mark(tmp_path) == KeyedMark(Mark(MONDAY, 1), LandedKey(1, "run-7"))


def test_a_key_that_another_program_landed_is_landed(tmp_path: Path) -> None:
    append(tmp_path)
    rewrite(tmp_path, 1, json.dumps({"txn": {"appId": MONDAY, "version": 1}}))

    assert mark(tmp_path).landed == LandedKey(1, None)


def test_landing_a_key_again_takes_the_next_mark(tmp_path: Path) -> None:
    land(tmp_path, "monday")

    assert mark(tmp_path, again=True) == KeyedMark(Mark(MONDAY, 2), None)


def test_again_with_a_key_that_never_landed_is_a_first_time(tmp_path: Path) -> None:
    append(tmp_path)

    assert mark(tmp_path, again=True) == KeyedMark(Mark(MONDAY, 1), None)


def test_a_key_landed_again_is_found_where_it_landed_last(tmp_path: Path) -> None:
    land(tmp_path, "monday", run="run-1")
    land(tmp_path, "monday", run="run-2", mark=2)

    assert mark(tmp_path) == KeyedMark(Mark(MONDAY, 2), LandedKey(1, "run-2"))
    assert mark(tmp_path, again=True).mark == Mark(MONDAY, 3)


@pytest.mark.parametrize("again", [False, True])
def test_a_table_that_forgets_marks_takes_no_keys(tmp_path: Path, again: bool) -> None:
    append(tmp_path, properties={"delta.setTransactionRetentionDuration": "interval 1 days"})

    with pytest.raises(RefusedError, match="forgets which loads have landed after interval 1 days") as caught:
        mark(tmp_path, again=again)

    assert "delta.setTransactionRetentionDuration" in caught.value.hint
    assert caught.value.exit_code == 4


def test_a_key_of_a_table_that_was_replaced_is_refused(tmp_path: Path) -> None:
    land(tmp_path, "monday")
    text = commit_file(tmp_path, 0).read_text()
    metadata = next(json.loads(line)["metaData"] for line in text.splitlines() if "metaData" in line)
    by_hand(tmp_path, {"metaData": metadata | {"id": "another"}})

    with pytest.raises(KeyGoneError, match="Key 'monday' landed as version 0, but the table was replaced") as caught:
        mark(tmp_path)

    assert "--again" in caught.value.hint


# Keys and RESTORE


def test_a_key_taken_back_by_a_restore_is_refused(tmp_path: Path) -> None:
    append(tmp_path)
    land(tmp_path, "monday")
    restore(tmp_path, 0)

    with pytest.raises(RefusedError, match="Key 'monday' landed as version 1, but a RESTORE") as caught:
        mark(tmp_path)

    assert "--again" in caught.value.hint
    assert caught.value.exit_code == 4


def test_a_key_taken_back_can_be_landed_again(tmp_path: Path) -> None:
    append(tmp_path)
    land(tmp_path, "monday")
    restore(tmp_path, 0)

    chosen = mark(tmp_path, again=True)
    land(tmp_path, "monday", run="run-2", mark=chosen.mark.version)

    assert chosen == KeyedMark(Mark(MONDAY, 2), None)
    assert mark(tmp_path).landed == LandedKey(3, "run-2")


def test_a_restore_to_the_landing_or_later_keeps_the_key(tmp_path: Path) -> None:
    append(tmp_path)
    land(tmp_path, "monday")
    append(tmp_path)
    append(tmp_path)
    restore(tmp_path, 2)
    restore(tmp_path, 1)

    assert mark(tmp_path).landed == LandedKey(1, "run-1")


def test_a_restore_that_was_itself_taken_back_keeps_the_key(tmp_path: Path) -> None:
    append(tmp_path)
    land(tmp_path, "monday")
    restore(tmp_path, 0)
    restore(tmp_path, 1)

    assert mark(tmp_path).landed == LandedKey(1, "run-1")


def test_a_restore_of_a_restore_takes_the_key_back_after_all(tmp_path: Path) -> None:
    append(tmp_path)
    land(tmp_path, "monday")
    restored = restore(tmp_path, 0)
    restore(tmp_path, 1)
    restore(tmp_path, restored)

    with pytest.raises(RefusedError, match="landed as version 1"):
        mark(tmp_path)


def test_a_restore_before_the_landing_does_not_matter(tmp_path: Path) -> None:
    append(tmp_path)
    append(tmp_path)
    restore(tmp_path, 0)
    land(tmp_path, "monday")

    assert mark(tmp_path).landed == LandedKey(3, "run-1")


def test_a_restore_by_time_takes_the_key_back(tmp_path: Path) -> None:
    append(tmp_path)
    time.sleep(0.1)
    land(tmp_path, "monday")
    append(tmp_path)
    restore(tmp_path, made(tmp_path, 0) + timedelta(seconds=0.05))

    with pytest.raises(RefusedError, match="landed as version 1"):
        mark(tmp_path)


def test_a_restore_by_time_to_the_landing_keeps_the_key(tmp_path: Path) -> None:
    append(tmp_path)
    land(tmp_path, "monday")
    append(tmp_path)
    DeltaTable(tmp_path).delete("id = 1")
    restore(tmp_path, 1)
    # As Spark spells it: the time in the zone of its JVM, which the log does not name.
    spelled(tmp_path, 4, {"version": None, "timestamp": "1970-01-01 00:00:00.0"})

    assert mark(tmp_path).landed == LandedKey(1, "run-1")


def test_a_restore_by_time_is_judged_by_its_files_and_not_by_its_clock(tmp_path: Path) -> None:
    append(tmp_path)
    land(tmp_path, "monday")
    append(tmp_path)
    restore(tmp_path, 0)
    spelled(tmp_path, 3, {"version": None, "timestamp": "2999-01-01 00:00:00.0"})

    with pytest.raises(RefusedError, match="landed as version 1"):
        mark(tmp_path)


def test_a_restore_by_time_that_was_taken_back_by_time_keeps_the_key(tmp_path: Path) -> None:
    append(tmp_path)
    land(tmp_path, "monday")
    restore(tmp_path, 0)
    restore(tmp_path, 1)
    for version in (2, 3):
        spelled(tmp_path, version, {"version": None, "timestamp": "1970-01-01 00:00:00.0"})

    assert mark(tmp_path).landed == LandedKey(1, "run-1")


def test_a_restore_that_names_itself_does_not_go_round_in_circles(tmp_path: Path) -> None:
    append(tmp_path)
    land(tmp_path, "monday")
    append(tmp_path)
    restore(tmp_path, 1)
    spelled(tmp_path, 3, {"version": 3, "timestamp": None})

    assert mark(tmp_path).landed == LandedKey(1, "run-1")


# Keys and log clean-up


def test_a_key_whose_commit_was_cleaned_up_is_landed_somewhere(tmp_path: Path) -> None:
    land(tmp_path, "monday")
    append(tmp_path)
    append(tmp_path)
    clean_up(tmp_path, before=2)

    assert mark(tmp_path) == KeyedMark(Mark(MONDAY, 1), LandedKey(None, None))
    assert mark(tmp_path, again=True).mark == Mark(MONDAY, 2)


def test_a_restore_to_before_the_log_begins_may_have_taken_the_key_back(tmp_path: Path) -> None:
    append(tmp_path)
    land(tmp_path, "monday")
    append(tmp_path)
    restore(tmp_path, 0)
    clean_up(tmp_path, before=3)

    with pytest.raises(RefusedError, match="Key 'monday' landed before the log begins, but a RESTORE") as caught:
        mark(tmp_path)

    assert "--again" in caught.value.hint


def test_a_restore_inside_what_is_left_of_the_log_keeps_a_key_from_before_it(tmp_path: Path) -> None:
    land(tmp_path, "monday")
    append(tmp_path)
    append(tmp_path)
    append(tmp_path)
    restore(tmp_path, 2)
    clean_up(tmp_path, before=2)

    assert mark(tmp_path).landed == LandedKey(None, None)


def test_text_that_breaks_lines_elsewhere_does_not_hide_a_key(tmp_path: Path) -> None:
    append(tmp_path, pa.table({"id": [1], "name": ["a\u2028b"]}), commit=stamp("run-1", key="monday"))

    assert mark(tmp_path).landed == LandedKey(0, "run-1")


def spelled(path: Path, version: int, parameters: dict[str, Any]) -> None:
    """Give a RESTORE other parameters, as another engine would spell them."""
    actions = [json.loads(line) for line in commit_file(path, version).read_text(encoding="utf-8").splitlines()]
    for action in actions:
        action.get("commitInfo", {})["operationParameters"] = parameters
    rewrite(path, version, "".join(f"{json.dumps(action)}\n" for action in actions))
