from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.pipeline.files import PIPELINE

from deltaworks.errors import ConfigError
from deltaworks.pipeline.document import Document
from deltaworks.pipeline.overrides import changed, parsed

SEGMENT = st.text(min_size=1).filter(lambda name: '"' not in name)


def set_in(value: Any, *settings: str) -> Any:
    return changed(Document(value), parsed(list(settings))).value


def refusal(value: Any, *settings: str) -> str:
    with pytest.raises(ConfigError) as caught:
        set_in(value, *settings)
    assert caught.value.hint
    return str(caught.value)


def test_a_value_is_put_in_the_place_of_the_files_own() -> None:
    found = set_in(PIPELINE, "load.connectionParams.path=elsewhere")

    assert found["load"]["connectionParams"] == {"path": "elsewhere"}
    assert found["extract"] == PIPELINE["extract"]
    assert PIPELINE["load"]["connectionParams"] == {"path": "out"}


def test_what_is_not_there_is_made() -> None:
    assert set_in({}, "a.b.c=1") == {"a": {"b": {"c": 1}}}
    assert set_in({"a": None}, "a.b=1") == {"a": {"b": 1}}


def test_a_whole_part_may_be_replaced() -> None:
    assert set_in({"a": {"b": 1}}, "a={c: 2}") == {"a": {"c": 2}}


def test_the_last_of_several_wins() -> None:
    assert set_in({}, "a=1", "b=2", "a=3") == {"a": 3, "b": 2}


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("a=42", 42),
        ("a='42'", "42"),
        ("a=true", True),
        ("a=no", "no"),
        ("a=", None),
        ("a=x=y", "x=y"),
        ("a=[id, date]", ["id", "date"]),
        ("a=status = 'open'", "status = 'open'"),
        ("a=s3a://lake/x?y=1", "s3a://lake/x?y=1"),
        ("a=two\nlines", "two lines"),
    ],
)
def test_a_value_is_read_as_a_file_would_read_it(setting: str, expected: object) -> None:
    assert set_in({}, setting) == {"a": expected}


@pytest.mark.parametrize(
    "setting",
    ['spark.conf."spark.sql.shuffle.partitions"=4', '"spark"."conf"."spark.sql.shuffle.partitions"=4'],
)
def test_a_key_with_dots_is_quoted(setting: str) -> None:
    assert set_in({}, setting) == {"spark": {"conf": {"spark.sql.shuffle.partitions": 4}}}


def test_a_key_with_an_equals_sign_is_quoted() -> None:
    assert set_in({}, 'options."a=b"=c') == {"options": {"a=b": "c"}}


@given(st.lists(SEGMENT, min_size=1, max_size=4), st.integers())
def test_any_quoted_path_reaches_its_place(path: list[str], value: int) -> None:
    found = set_in({}, ".".join(f'"{name}"' for name in path) + f"={value}")

    for name in path:
        found = found[name]
    assert found == value


def test_an_item_of_a_list_is_named_by_its_place() -> None:
    value = {"transform": [{"type": "filter"}, {"type": "sql"}]}

    assert set_in(value, "transform.1.type=select") == {"transform": [{"type": "filter"}, {"type": "select"}]}


@pytest.mark.parametrize("place", ["2", "-1", "first"])
def test_an_item_that_is_not_there_is_refused(place: str) -> None:
    assert refusal({"a": [1, 2]}, f"a.{place}=3") == f"--set a.{place}: the list has no item {place!r}."


def test_what_has_nothing_below_it_is_refused() -> None:
    assert refusal({"a": "x"}, "a.b=1") == "--set a.b: there is nothing below 'x'."


@pytest.mark.parametrize("setting", ["a", "", "=1", '"a=1'])
def test_a_setting_without_a_value_is_refused(setting: str) -> None:
    assert refusal({}, setting) == f"--set {setting!r} has no value."


@pytest.mark.parametrize("path", ["a..b", ".a", "a.", '"a"b', 'a"b"', '""', "."])
def test_a_path_that_cannot_be_read_is_refused(path: str) -> None:
    assert refusal({}, f"{path}=1") == f"--set cannot read the path {path!r}."


def test_settings_may_be_given_as_values() -> None:
    document = changed(Document({"a": 1}), {"a": [1, 2], "b.c": None})

    assert document.value == {"a": [1, 2], "b": {"c": None}}
