from __future__ import annotations

import pytest

from deltaworks.lake.mode import WriteMode
from deltaworks.spark.conflicts import REACTIONS, Conflict, Reaction, WriteConflictError, conflict_of


def test_every_conflict_has_a_reaction_in_every_mode() -> None:
    assert set(REACTIONS) == set(Conflict)
    assert all(set(by_mode) == set(WriteMode) for by_mode in REACTIONS.values())


@pytest.mark.parametrize("mode", WriteMode)
def test_a_mark_that_is_taken_is_never_tried_again(mode: WriteMode) -> None:
    assert [each for each in Conflict if REACTIONS[each][mode] is Reaction.STOP] == [Conflict.TRANSACTION]


@pytest.mark.parametrize("mode", WriteMode)
@pytest.mark.parametrize("conflict", [Conflict.METADATA, Conflict.PROTOCOL, Conflict.CREATED])
def test_a_table_that_became_another_is_looked_at_again(conflict: Conflict, mode: WriteMode) -> None:
    assert REACTIONS[conflict][mode] is Reaction.REPLAN


@pytest.mark.parametrize("mode", [WriteMode.OVERWRITE, WriteMode.UPSERT])
@pytest.mark.parametrize("conflict", [Conflict.WRITE, Conflict.APPEND, Conflict.DELETE_READ, Conflict.DELETE_DELETE])
def test_rows_that_came_or_went_meanwhile_are_met_by_trying_again(conflict: Conflict, mode: WriteMode) -> None:
    assert REACTIONS[conflict][mode] is Reaction.RETRY


@pytest.mark.parametrize("conflict", [each for each in Conflict if each is not Conflict.CREATED])
def test_every_class_of_delta_is_known_by_its_name(conflict: Conflict) -> None:
    assert conflict_of(f"io.delta.exceptions.{conflict.value}", "") is conflict
    assert conflict_of(conflict.value, "") is conflict


@pytest.mark.parametrize(
    ("condition", "conflict"),
    [
        ("DELTA_CONCURRENT_APPEND.WITHOUT_HINT", Conflict.APPEND),
        ("DELTA_CONCURRENT_DELETE_READ", Conflict.DELETE_READ),
        ("DELTA_CONCURRENT_DELETE_DELETE", Conflict.DELETE_DELETE),
        ("DELTA_CONCURRENT_TRANSACTION", Conflict.TRANSACTION),
        ("DELTA_CONCURRENT_WRITE", Conflict.WRITE),
        ("DELTA_METADATA_CHANGED", Conflict.METADATA),
        ("DELTA_PROTOCOL_CHANGED", Conflict.PROTOCOL),
        ("DELTA_PATH_EXISTS", Conflict.CREATED),
        ("TABLE_OR_VIEW_ALREADY_EXISTS", Conflict.CREATED),
        ("UNRESOLVED_COLUMN", None),
        ("", None),
    ],
)
def test_where_only_the_condition_tells_it_is_enough(condition: str, conflict: Conflict | None) -> None:
    assert conflict_of("AnalysisException", condition) is conflict


def test_after_all_tries_the_error_says_how_many_there_were() -> None:
    error = WriteConflictError("Too late.", hint="Again.", conflict=Conflict.APPEND)

    assert str(error.after(1)) == "Too late."
    assert str(error.after(3)) == "Too late. (tried 3 times)"
