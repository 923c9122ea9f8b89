from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import Field, TypeAdapter, ValidationError

from deltaworks.lake.model import Bytes, Columns, FileModel, Flag, FromText, Location, Pattern, Step, Whole

NAMES = st.text(min_size=1).filter(lambda name: "," not in name and not name.lstrip().startswith(("[", "{")))


class Part(FileModel):
    flag: Flag = False
    whole: Whole = 0
    columns: Columns = ("id",)
    place: Location = "out"
    size_by_name: Annotated[dict[str, int], FromText()] = Field(default_factory=dict)


class Reader(Step):
    outer: ClassVar[frozenset[str]] = frozenset({"sourceType"})

    source_type: str
    path: str
    merge_keys: Columns | None = None


def part(**values: Any) -> Part:
    return Part.model_validate(values, context={"folder": Path("/files")})


def refusal(model: type[FileModel], values: object) -> tuple[str, str]:
    """The first problem, and its hint."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate(values, context={"folder": Path("/files")})
    found = caught.value.errors()[0]
    return found["msg"], found.get("ctx", {}).get("hint", "")


# Keys


def test_keys_are_spelled_in_camel_case() -> None:
    assert part(sizeByName={"a": 1}).size_by_name == {"a": 1}


def test_an_unknown_key_is_refused_with_the_closest_known_one() -> None:
    assert refusal(Part, {"colums": ["id"]}) == ("Unknown key 'colums'", "Did you mean 'columns'?")


def test_the_name_a_field_has_in_code_is_not_its_name_in_a_file() -> None:
    assert refusal(Part, {"size_by_name": {}}) == ("Unknown key 'size_by_name'", "Did you mean 'sizeByName'?")


def test_a_key_that_is_no_text_is_refused() -> None:
    assert refusal(Part, {7: 1})[0] == "Unknown key 7"


def test_every_unknown_key_is_told() -> None:
    with pytest.raises(ValidationError) as caught:
        Part.model_validate({"flg": True, "whle": 1})

    assert [found["loc"] for found in caught.value.errors()] == [("flg",), ("whle",)]


# String spellings


@pytest.mark.parametrize(("given", "expected"), [(True, True), (False, False), ("true", True), ("false", False)])
def test_a_flag_may_be_spelled_as_text(given: object, expected: bool) -> None:
    assert part(flag=given).flag is expected


@pytest.mark.parametrize("given", ["no", "True", "1", 1, 0, None, "", []])
def test_what_is_neither_true_nor_false_is_refused(given: object) -> None:
    assert refusal(Part, {"flag": given}) == (f"{given!r} is neither true nor false", "Write true or false.")


@pytest.mark.parametrize(("given", "expected"), [(42, 42), ("42", 42), ("-1", -1), (" 7 ", 7), ("007", 7)])
def test_a_number_may_be_spelled_as_text(given: object, expected: int) -> None:
    assert part(whole=given).whole == expected


@pytest.mark.parametrize("given", ["4.2", 4.2, 4.0, True, None, "", "x", "1e3", "--5", "²", "9" * 5000])
def test_what_is_no_whole_number_is_refused(given: object) -> None:
    refusal(Part, {"whole": given})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["id"], ("id",)),
        (["id", "date"], ("id", "date")),
        (("id",), ("id",)),
        ('["id"]', ("id",)),
        (' ["id", "a,b"] ', ("id", "a,b")),
        ("id", ("id",)),
        ("order id", ("order id",)),
    ],
)
def test_columns_may_be_spelled_as_a_list_as_text_or_as_one_name(given: object, expected: tuple[str, ...]) -> None:
    assert part(columns=given).columns == expected


@given(st.lists(NAMES, min_size=1, unique=True))
def test_columns_spelled_as_text_are_the_same_columns(names: list[str]) -> None:
    assert part(columns=json.dumps(names)).columns == part(columns=names).columns == tuple(names)


@given(NAMES)
def test_any_bare_name_is_one_column(name: str) -> None:
    assert part(columns=name).columns == (name,)


def test_names_with_commas_between_them_are_refused_with_the_right_spelling() -> None:
    assert refusal(Part, {"columns": "id, date"}) == (
        "'id, date' is not a column name",
        'For several columns write ["id", "date"].',
    )


@pytest.mark.parametrize("given", [[], "", 5, None, [1], [""], "[]", '{"id": 1}', ["id", None]])
def test_what_is_no_list_of_columns_is_refused(given: object) -> None:
    assert refusal(Part, {"columns": given})[0].endswith("is not a list of column names")


def test_a_column_named_twice_is_refused() -> None:
    assert refusal(Part, {"columns": ["id", "id"]})[0] == "['id', 'id'] names a column twice"


@pytest.mark.parametrize("text", ['["id"', '["id",]', "[" * 100_000, '{"a": }'])
def test_broken_json_inside_a_text_is_refused(text: str) -> None:
    message, hint = refusal(Part, {"columns": text})

    assert "is not valid JSON" in message
    assert '"[\\"id\\"]"' in hint


def test_an_object_may_be_spelled_as_text() -> None:
    assert part(sizeByName='{"a": 1}').size_by_name == {"a": 1}


# Places


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("out", "/files/out"),
        ("../out", "/files/../out"),
        ("/data/out", "/data/out"),
        ("s3a://bucket/out", "s3a://bucket/out"),
        ("file:///data/out", "file:///data/out"),
        ("file:/data/out", "file:/data/out"),
        ("~/out", str(Path.home() / "out")),
    ],
)
def test_a_relative_path_starts_at_the_folder_of_its_file(given: str, expected: str) -> None:
    assert part(place=given).place == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("in/*.csv", "/f\\[1\\]/in/*.csv"),
        ("/in/{a,b}.csv", "/in/{a,b}.csv"),
        ("s3a://bucket/in/*.csv", "s3a://bucket/in/*.csv"),
    ],
)
def test_the_folder_of_a_file_is_no_part_of_a_pattern_in_it(given: str, expected: str) -> None:
    found = TypeAdapter(Pattern).validate_python(given, context={"folder": Path("/f[1]")})

    assert found == expected


def test_a_pattern_that_means_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="is no pattern"):
        TypeAdapter(Pattern).validate_python("in/[a")


def test_without_a_file_a_relative_path_stays() -> None:
    assert Part.model_validate({"place": "out"}).place == "out"


@pytest.mark.parametrize("given", ["", "  ", "a\0b", "~nobody-of-that-name/out"])
def test_what_is_no_path_is_refused(given: str) -> None:
    assert f"{given!r} is not a path" in refusal(Part, {"place": given})[0]


# Steps


@pytest.mark.parametrize(
    "values",
    [
        {"sourceType": "File", "path": "in"},
        {"sourceType": "File", "connectionParams": {"path": "in"}},
        {"sourceType": "File", "path": "in", "connectionParams": {"path": "in"}},
        {"sourceType": "File", "path": "in", "connectionParams": None},
    ],
)
def test_the_keys_of_a_step_stand_one_level_deeper_or_beside_its_type(values: dict[str, Any]) -> None:
    assert Reader.model_validate(values).path == "in"


def test_saying_the_same_thing_twice_differently_is_refused() -> None:
    values = {"sourceType": "File", "path": "in", "connectionParams": {"path": "other"}}

    assert refusal(Reader, values) == ("'path' is said twice, as 'in' and as 'other'", "Leave one of them out.")


@pytest.mark.parametrize("inner", [5, "path", ["path"], True])
def test_a_step_whose_keys_are_no_keys_is_refused(inner: object) -> None:
    values = {"sourceType": "File", "connectionParams": inner}

    assert refusal(Reader, values)[0] == "connectionParams must hold keys and values"


@pytest.mark.parametrize("values", [5, None, "File", ["File"]])
def test_a_step_that_is_no_mapping_is_refused(values: object) -> None:
    refusal(Reader, values)


# JSON Schema


@pytest.mark.parametrize(
    "values",
    [
        {"flag": "true", "whole": "42", "columns": "id", "sizeByName": '{"a": 1}'},
        {"flag": True, "whole": 42, "columns": ["id"], "sizeByName": {"a": 1}},
        {"flag": "${FLAG}", "whole": "${WHOLE:1}", "columns": '["id"]'},
    ],
)
def test_the_schema_knows_every_spelling(values: dict[str, Any]) -> None:
    Draft202012Validator(Part.model_json_schema()).validate(values)


@pytest.mark.parametrize("values", [{"flg": True}, {"flag": "yes"}, {"whole": "x"}, {"columns": []}, {"columns": 5}])
def test_the_schema_refuses_what_the_model_refuses(values: dict[str, Any]) -> None:
    assert not Draft202012Validator(Part.model_json_schema()).is_valid(values)


def test_the_schema_of_a_step_has_the_shape_of_the_file() -> None:
    validator = Draft202012Validator(Reader.model_json_schema())

    assert validator.is_valid({"sourceType": "File", "connectionParams": {"path": "in", "mergeKeys": "id"}})
    assert validator.is_valid({"sourceType": "File", "path": "in"})
    assert not validator.is_valid({"sourceType": "File", "mergeKeys": "id"})
    assert not validator.is_valid({"sourceType": "File", "connectionParams": {"pth": "in"}})
    assert not validator.is_valid({"connectionParams": {"path": "in"}})


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1024, 1024), ("1024", 1024), ("128MB", 128 * 2**20), ("1 GiB", 2**30), ("5k", 5120), ("2tb", 2**41)],
)
def test_a_size_is_a_number_of_bytes_or_text(value: object, expected: int) -> None:
    assert TypeAdapter(Bytes).validate_python(value) == expected


@pytest.mark.parametrize("value", ["large", "", "-5", 0, True, 1.5, "5 apples", None])
def test_what_is_no_size_is_refused(value: object) -> None:
    with pytest.raises(ValidationError, match="is not a size"):
        TypeAdapter(Bytes).validate_python(value)
