from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.pipeline.files import saved

from deltaworks.errors import ConfigError
from deltaworks.pipeline.document import Document, read_document
from deltaworks.pipeline.variables import filled

if TYPE_CHECKING:
    from pathlib import Path


def fill(value: Any, **variables: str) -> Any:
    return filled(Document(value), variables).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${DAY}", "monday"),
        ("s3a://lake/${DAY}/x", "s3a://lake/monday/x"),
        ("${DAY}-${DAY}", "monday-monday"),
        ("${DAY:sunday}", "monday"),
        ("${NIGHT:sunday}", "sunday"),
        ("${NIGHT:}", ""),
        ("${NIGHT:s3a://lake/x}", "s3a://lake/x"),
        ("$${DAY}", "${DAY}"),
        ("$${DAY:x} ${DAY}", "${DAY:x} monday"),
        ("$DAY", "$DAY"),
        ("${}", "${}"),
        ("${DAY", "${DAY"),
        ("price in $", "price in $"),
    ],
)
def test_a_reference_is_replaced_by_its_value_or_its_default(text: str, expected: str) -> None:
    assert fill(text, DAY="monday") == expected


def test_references_are_replaced_at_any_depth_and_in_values_only() -> None:
    found = fill({"${DAY}": ["${DAY}", {"a": "${DAY}", "b": 5, "c": None, "d": True}]}, DAY="monday")

    assert found == {"${DAY}": ["monday", {"a": "monday", "b": 5, "c": None, "d": True}]}


@given(st.text())
def test_what_a_variable_holds_is_not_read_again(value: str) -> None:
    assert fill("<${X}>", X=value) == f"<{value}>"


def test_a_variable_that_is_not_set_is_named_with_its_line(tmp_path: Path) -> None:
    document = read_document(saved(tmp_path, "a: 1\nb:\n  - ${NIGHT}\n"))

    with pytest.raises(ConfigError) as caught:
        filled(document, {"DAY": "monday"})

    assert str(caught.value) == "orders.yaml:3: the variable NIGHT is not set."
    assert "${NIGHT:value}" in caught.value.hint


def test_without_a_file_a_variable_that_is_not_set_is_named_alone() -> None:
    with pytest.raises(ConfigError, match=r"^the variable NIGHT is not set\.$"):
        fill("${NIGHT}")


def test_a_default_that_holds_another_reference_is_refused() -> None:
    with pytest.raises(ConfigError, match="the default of NIGHT holds another"):
        fill("${NIGHT:${DAY}}", DAY="monday")
