"""Columns that come or change under a pipeline, and partitions with names that are hard to spell."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.integration.increments import broken_off
from tests.torture.case import SENT_AT_ONCE
from tests.torture.matrix import over
from tests.torture.streams import MORE, KafkaStream, Row

if TYPE_CHECKING:
    import pytest

    from tests.torture.case import Case

NAMES = (
    "two words",
    "100%",
    "a%2Fb",
    "a/b",
    "..",
    ".",
    "ü 日本",
    "line\nbreak",
    "tab\tand \\ back",
    "a=b",
    "it's 'quoted'",
    "#?&",
    "__HIVE_DEFAULT_PARTITION__x",
    None,
)


def begun(case: Case) -> int:
    """All that was sent has landed, with the columns that it has; the version of the table."""
    if isinstance(case.stream, KafkaStream):
        del case.stream.params["schema"]
    case.begun()
    case.run()
    return case.table().version


@over("came", quick=1)
def test_a_column_that_comes_is_refused_by_name_and_lands_where_the_table_may_grow(case: Case, fault: str) -> None:
    version = begun(case)
    case.stream.grow()
    case.more()

    case.fails("has no column 'more'")
    assert case.table().version == version
    case.params = {"mergeSchema": True}
    case.run()

    found = Counter(case.table().to_arrow()["more"].to_pylist())
    assert found == {None: len(case.expected) - SENT_AT_ONCE, MORE["more"]: SENT_AT_ONCE}
    case.judge(f"column that {fault}")


@over("is text now", quick=1, turn=2)
def test_a_column_that_is_of_another_type_is_refused_and_old_rows_stay(case: Case, fault: str) -> None:
    version = begun(case)
    landed = dict(case.expected)
    said = case.stream.retype()
    case.more()

    case.fails(said)
    assert case.table().version == version

    case.expected = landed
    case.judge(f"column that {fault}")


@over("before_commit", thorough=("after_commit",), modes=("Overwrite",), quick=1, turn=1)
def test_partitions_of_any_name_are_replaced_once_however_often_a_batch_is_tried(
    case: Case, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.params = {"partitionBy": ["run", "batch"]}
    case.more()
    case.run()
    rows = [Row(name, next(case.batches), seq, 10**6 + seq, 0) for seq, name in enumerate(NAMES)]
    case.stream.send(rows)
    case.expect(rows)
    with broken_off(monkeypatch, fault):
        case.run()
    case.told.append("the failpoint")

    case.run()
    again = [row._replace(n=1) for row in rows]
    case.stream.correct(again)
    case.expect(again)
    case.run()

    case.judge(f"odd partitions, failure at {fault}")
