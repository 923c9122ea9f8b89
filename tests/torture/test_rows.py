"""Rows that come twice, late, in the wrong order, or cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import deltaworks
from tests.integration.increments import broken_off
from tests.torture.case import SENT_AT_ONCE
from tests.torture.matrix import over
from tests.torture.streams import KafkaStream

if TYPE_CHECKING:
    import pytest

    from tests.torture.case import Case

BROKEN = (b'{"run": "torture", ', b"\xff")
NEWEST: dict[str, Any] = {"orderBy": "n", "onDuplicateKeys": "keepNewest", "updateCondition": "source.n > target.n"}


@over("before_commit", "after_commit", modes=("Upsert",), quick=1)
def test_of_a_row_and_its_corrections_in_one_batch_the_newest_lands_however_often_it_is_tried(
    case: Case, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.begun()
    case.correct(2)
    case.correct(2)
    with broken_off(monkeypatch, fault):
        case.run()
    case.told.append("the failpoint")

    case.correct(2)
    case.run()

    case.judge(f"rows and corrections in a batch, failure at {fault}")


@over("a batch later", thorough=("in one batch",), modes=("Upsert",), sources=("kafka", "feed"), quick=1, turn=1)
def test_a_correction_that_comes_after_a_newer_one_changes_nothing(case: Case, fault: str) -> None:
    case.params = NEWEST
    case.begun()
    case.correct(2)
    older = [row for row in case.expected.values() if row.batch == 2]
    case.correct(2)
    if fault == "a batch later":
        case.run()
    case.stream.correct(older)

    case.run()

    case.judge(f"older corrections {fault}")


@over("broken JSON", sources=("kafka",))
def test_a_record_that_cannot_be_read_is_told_with_its_place_and_nothing_of_its_batch_lands(
    case: Case, fault: str
) -> None:
    assert isinstance(case.stream, KafkaStream)
    case.begun()
    version, offset = case.table().version, len(case.expected) // 2
    offset += 0 if case.mode == "Append" else SENT_AT_ONCE // 2
    case.stream.topic.send(*BROKEN)
    case.more()

    case.fails(f"partition 0, offset {offset}")
    assert case.table().version == version
    case.stream.params["onBadRecord"] = "setAside"
    case.run()

    case.judge(fault)


@over("after_aside", thorough=("before_commit", "after_commit", "after_aside=kill"), sources=("kafka",), quick=1)
def test_good_records_and_those_set_aside_are_all_that_was_sent_however_often_a_batch_is_tried(
    case: Case, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(case.stream, KafkaStream)
    case.stream.params["onBadRecord"] = "setAside"
    case.begun()
    case.stream.topic.send(*BROKEN)
    case.more()
    step, _, kill = fault.partition("=")
    if kill:
        case.killed_at(step)
    else:
        with broken_off(monkeypatch, step):
            case.run()

    case.stream.topic.send(*BROKEN, partition=1)
    case.run()

    aside = deltaworks.open_table(f"{case.target}_aside").to_arrow()["row"].to_pylist()
    assert len(set(aside)) == len(aside) == 2 * len(BROKEN)
    case.judge(f"broken JSON set aside, failure at {fault}")
