from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from deltaworks.spark.kafka.offsets import Ending, NoSuchOffsetError, Starting, between, check_order, resolved
from deltaworks.spark.kafka.span import Extent, Partition

STARTING, ENDING = TypeAdapter[Any](Starting), TypeAdapter[Any](Ending)
FIRST, SECOND = Partition("orders", 0), Partition("orders", 1)
THERE = [Extent(partition=FIRST, start=5, end=10), Extent(partition=SECOND, start=0, end=0)]


@pytest.mark.parametrize(
    "said",
    [
        {"orders": {"0": 23, "1": -2}},
        {"orders": {0: 23, 1: -2}},
        '{"orders": {"0": 23, "1": -2}}',
    ],
)
def test_offsets_are_a_mapping_or_the_text_that_spark_takes(said: Any) -> None:
    assert STARTING.validate_python(said) == {"orders": {0: 23, 1: -2}}


def test_offsets_may_be_a_word() -> None:
    assert STARTING.validate_python("earliest") == "earliest"
    assert STARTING.validate_python("latest") == "latest"
    assert ENDING.validate_python("latest") == "latest"


NONE = ["first", "", 5, None, [], {}, {"orders": {}}, {"orders": 5}, {"orders": {"x": 1}}, '{"orders": ']
NO_NUMBERS = [{"orders": {"0": said}} for said in (-3, "x", 1.5, True)]


@pytest.mark.parametrize("said", [*NONE, *NO_NUMBERS])
def test_what_says_no_offsets_is_refused(said: Any) -> None:
    with pytest.raises(ValidationError, match=r"says no offsets|is not valid JSON"):
        STARTING.validate_python(said)


def test_a_read_cannot_end_at_the_beginning() -> None:
    for said in ("earliest", {"orders": {"0": -2}}):
        with pytest.raises(ValidationError, match=r"says no offsets|cannot end at -2"):
            ENDING.validate_python(said)


def test_the_words_and_their_numbers_mean_the_same() -> None:
    for word, number in (("earliest", -2), ("latest", -1)):
        named = {"orders": {0: number, 1: number}}

        assert resolved(word, THERE, "startingOffsets") == resolved(named, THERE, "startingOffsets")
    assert resolved("earliest", THERE, "startingOffsets") == {FIRST: 5, SECOND: 0}
    assert resolved("latest", THERE, "startingOffsets") == {FIRST: 10, SECOND: 0}


@pytest.mark.parametrize("offset", [5, 7, 10])
def test_an_offset_that_is_there_is_taken(offset: int) -> None:
    assert resolved({"orders": {0: offset, 1: 0}}, THERE, "startingOffsets")[FIRST] == offset


@pytest.mark.parametrize("offset", [4, 11])
def test_an_offset_that_is_not_there_is_refused_with_those_that_are(offset: int) -> None:
    with pytest.raises(NoSuchOffsetError, match=f"startingOffsets of orders 0 is {offset}") as caught:
        resolved({"orders": {0: offset, 1: 0}}, THERE, "startingOffsets")

    assert "the offsets there are 5 up to 10" in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("named", "wrong"),
    [({0: 5}, "does not name orders 1"), ({0: 5, 1: 0, 2: 0}, "names orders 2, which is not there")],
)
def test_every_partition_is_named_and_no_other(named: dict[int, int], wrong: str) -> None:
    with pytest.raises(NoSuchOffsetError, match=wrong) as caught:
        resolved({"orders": named}, THERE, "endingOffsets")

    assert caught.value.hint == "Name exactly these partitions: orders 0, 1."


def test_a_span_lies_between_its_ends() -> None:
    found = between(THERE, {FIRST: 6, SECOND: 0}, {FIRST: 8, SECOND: 0})

    assert [(each.start, each.end) for each in found] == [(6, 8), (0, 0)]
    with pytest.raises(NoSuchOffsetError, match="would begin at offset 9 and end at 8"):
        between(THERE, {FIRST: 9, SECOND: 0}, {FIRST: 8, SECOND: 0})


def test_an_end_before_the_start_is_seen_in_the_file_already() -> None:
    check_order({"orders": {0: 5, 1: -2}}, {"orders": {0: 5, 1: 0}})
    check_order("latest", {"orders": {0: 5}})
    with pytest.raises(PydanticCustomError, match="startingOffsets 6 of orders 0 comes after endingOffsets 5"):
        check_order({"orders": {0: 6}}, {"orders": {0: 5}})
