from __future__ import annotations

import pytest
from pydantic import ValidationError

from deltaworks.lake.expectation import Expectation, OnFailure, all_kept, to_set_aside


def rule(name: str, check: str, on_failure: str = "fail") -> Expectation:
    return Expectation.model_validate({"name": name, "check": check, "onFailure": on_failure})


def test_a_rule_that_is_null_for_a_row_is_not_kept() -> None:
    assert rule("a", "n > 0").kept == "coalesce(n > 0, false)"


def test_a_rule_fails_the_load_unless_it_says_otherwise() -> None:
    assert Expectation(name="a", check="n > 0").on_failure is OnFailure.FAIL


def test_a_row_is_written_when_it_keeps_all_rules_and_set_aside_by_those_that_say_so() -> None:
    rules = [rule("a", "n > 0", "drop"), rule("b", "m > 0", "setAside")]

    assert all_kept(rules) == "coalesce(n > 0, false) AND coalesce(m > 0, false)"
    assert to_set_aside(rules) == "NOT coalesce(m > 0, false)"
    assert (all_kept([]), to_set_aside([])) == ("true", "false")


@pytest.mark.parametrize(
    "values",
    [
        {"name": "a b", "check": "n"},
        {"name": "a"},
        {"name": "a", "check": ""},
        {"name": "a", "check": "n", "onFailure": "ignore"},
    ],
)
def test_a_rule_that_cannot_be_is_refused(values: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Expectation.model_validate(values)
