from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.pipeline.files import saved

from deltaworks.errors import ConfigError
from deltaworks.pipeline.document import Document, read_document, scalar

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=20), inner, max_size=3),
    max_leaves=10,
)


def values(folder: Path, text: str | bytes, name: str = "orders.yaml") -> Any:
    return read_document(saved(folder, text, name)).value


def refusal(folder: Path, text: str | bytes, name: str = "orders.yaml") -> str:
    with pytest.raises(ConfigError) as caught:
        values(folder, text, name)
    assert "\n" not in str(caught.value)
    assert caught.value.hint
    return str(caught.value)


# What is there comes back


@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=20), VALUES, max_size=3))
def test_a_json_file_comes_back_as_it_is(tmp_path_factory: pytest.TempPathFactory, value: dict[str, Any]) -> None:
    folder = tmp_path_factory.mktemp("json")

    assert values(folder, json.dumps(value, indent="\t"), "a.json") == value
    assert values(folder, json.dumps(value, ensure_ascii=False), "b.json") == value


@settings(max_examples=50)
@given(st.dictionaries(st.text(max_size=20), VALUES, max_size=3))
def test_a_yaml_file_comes_back_as_it_is(tmp_path_factory: pytest.TempPathFactory, value: dict[str, Any]) -> None:
    text = yaml.safe_dump(value, default_style='"', allow_unicode=True)

    assert values(tmp_path_factory.mktemp("yaml"), text) == value


def test_a_json_file_may_be_indented_with_tabs(tmp_path: Path) -> None:
    assert values(tmp_path, '{\n\t"a":\t1\n}', "a.json") == {"a": 1}


def test_signs_outside_the_basic_plane_survive_being_escaped(tmp_path: Path) -> None:
    assert values(tmp_path, r'{"a": "\ud83d\ude00"}', "a.json") == {"a": "😀"}


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    assert values(tmp_path, b"\xef\xbb\xbfa: 1\n") == {"a": 1}


def test_the_ending_may_be_in_capitals(tmp_path: Path) -> None:
    assert values(tmp_path, '{\n\t"a": 1}', "A.JSON") == {"a": 1}


def test_an_alias_is_what_it_stands_for(tmp_path: Path) -> None:
    assert values(tmp_path, "a: &x [1, 2]\nb: *x\n") == {"a": [1, 2], "b": [1, 2]}


# Scalars


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("42", 42),
        ("-7", -7),
        ("+7", 7),
        ("012", 12),
        ("1_000", "1_000"),
        ("0x1F", "0x1F"),
        ("12:30:45", "12:30:45"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1.", 1.0),
        ("2024-01-31", "2024-01-31"),
        ("2024-01-31 12:00:00", "2024-01-31 12:00:00"),
        ("<<", "<<"),
        ("=", "="),
        ("'42'", "42"),
        ('"true"', "true"),
        ("!!str 42", "42"),
        ("[a, 1]", ["a", 1]),
        ("{a: no}", {"a": "no"}),
    ],
)
def test_scalars_are_read_as_yaml_1_2_does(tmp_path: Path, text: str, expected: object) -> None:
    assert values(tmp_path, f"a: {text}\n") == {"a": expected}


def test_keys_are_always_text(tmp_path: Path) -> None:
    assert values(tmp_path, "1: a\ntrue: b\nnull: c\n") == {"1": "a", "true": "b", "null": "c"}


# Lines


def test_every_value_knows_its_line(tmp_path: Path) -> None:
    document = read_document(saved(tmp_path, "a: 1\nb:\n  - x\n  - c: 2\n    d: 3\n"))

    assert document.where(("a",)) == "orders.yaml:1"
    assert document.where(("b", 1)) == "orders.yaml:4"
    assert document.where(("b", 1, "d")) == "orders.yaml:5"
    assert document.where(()) == "orders.yaml:1"


def test_a_value_that_is_not_there_is_where_its_surroundings_are(tmp_path: Path) -> None:
    document = read_document(saved(tmp_path, "a:\n  b: 1\n"))

    assert document.where(("a", "c", "d")) == "orders.yaml:1"
    assert document.where(("z",)) == "orders.yaml:1"


def test_lines_of_a_json_file_are_known_too(tmp_path: Path) -> None:
    document = read_document(saved(tmp_path, '{\n\t"a": {\n\t\t"b": "\u2028"\n\t},\n\t"c": 1\n}', "a.json"))

    assert document.where(("a", "b")) == "a.json:3"
    assert document.where(("c",)) == "a.json:5"


def test_values_without_a_file_have_no_place() -> None:
    assert Document({"a": 1}).where(("a",)) == ""


def test_a_file_without_lines_is_at_least_named() -> None:
    assert Document({"a": 1}, Path("orders.yaml")).where(("a",)) == "orders.yaml"


# What cannot be read


@pytest.mark.parametrize("text", ["", " \n\n", "# only words\n"])
def test_an_empty_file_is_refused(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, text) == "orders.yaml is empty."


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a: [1\nb: 2\n", "orders.yaml:2:2"),
        ("a: b: c\n", "orders.yaml:1:5"),
        ("a:\n\tb: 1\n", "orders.yaml:2:1"),
        ("a: 'x\n", "orders.yaml:2:1"),
        ("a: 1\n---\nb: 2\n", "orders.yaml:2:1"),
        ("a: *nothing\n", "orders.yaml:1:4"),
        ("a: x\nb: y\0z\n", "orders.yaml:2:5"),
        ("\x07", "orders.yaml:1:1"),
        ("a: @x\n", "orders.yaml:1:4"),
        ("%BAD\n", "orders.yaml:2:1"),
    ],
)
def test_broken_yaml_names_line_and_column(tmp_path: Path, text: str, where: str) -> None:
    assert refusal(tmp_path, text).startswith(f"{where}: this is not YAML: ")


@pytest.mark.parametrize(
    ("text", "where"),
    [('{"a": 1', "a.json:1:8"), ('{"a": 1,\n"b" 2}', "a.json:2:5"), ("{'a': 1}", "a.json:1:2"), ("a: 1", "a.json:1:1")],
)
def test_broken_json_names_line_and_column(tmp_path: Path, text: str, where: str) -> None:
    assert refusal(tmp_path, text, "a.json").startswith(f"{where}: this is not JSON: ")


@pytest.mark.parametrize(
    ("text", "name", "where"),
    [
        ("a: 1\nb: 2\na: 3\n", "orders.yaml", "orders.yaml:3:1"),
        ("a: 1\n'a': 1\n", "orders.yaml", "orders.yaml:2:1"),
        ("x:\n  - {b: 1, b: 2}\n", "orders.yaml", "orders.yaml:2:12"),
        ('{"a": 1,\n "a": 2}', "a.json", "a.json:2:2"),
    ],
)
def test_a_key_that_stands_twice_is_refused(tmp_path: Path, text: str, name: str, where: str) -> None:
    assert re.fullmatch(rf"{where}: the key '.' stands here twice\.", refusal(tmp_path, text, name))


@pytest.mark.parametrize("text", ["? [a]\n: 1\n", "{[a]: 1}\n"])
def test_a_key_that_is_no_text_is_refused(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, text).endswith("a key must be text.")


@pytest.mark.parametrize("tag", ["!!python/name:os.system", "!!binary", "!!timestamp", "!mine", "!!python/none"])
def test_an_unknown_tag_is_refused(tmp_path: Path, tag: str) -> None:
    assert re.match(r"orders\.yaml:1:4: the tag .* is not known", refusal(tmp_path, f"a: {tag} x\n"))


@pytest.mark.parametrize("text", ["!!int abc", "!!float abc", "!!bool maybe", "9" * 5000])
def test_a_value_that_is_not_what_it_says_is_refused(tmp_path: Path, text: str) -> None:
    assert "we can read" in refusal(tmp_path, f"a: {text}\n")


def test_a_number_too_long_to_read_is_refused_in_json_too(tmp_path: Path) -> None:
    assert refusal(tmp_path, '{"a": ' + "9" * 5000 + "}", "a.json").startswith("a.json is not JSON we can read")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a: " + "[" * 45 + "]" * 45, "orders.yaml"),
        ("a: " + "[" * 500 + "]" * 500, "orders.yaml"),
        ("{a: " * 45 + "1" + "}" * 45, "orders.yaml"),
        ("[" * 45 + "]" * 45, "a.json"),
        ("[" * 100_000 + "]" * 100_000, "a.json"),
        ("a: &a [*a]\n", "orders.yaml"),
        ("a: &a {b: *a}\n", "orders.yaml"),
    ],
)
def test_a_file_that_goes_too_deep_is_refused(tmp_path: Path, text: str, name: str) -> None:
    assert re.search(r"too deep|recursion depth", refusal(tmp_path, text, name))


def test_a_few_aliases_cannot_become_a_billion_values(tmp_path: Path) -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for above, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{above}'] * 10)}]")

    assert "too large" in refusal(tmp_path, "\n".join(lines))


def test_a_file_of_many_values_is_refused(tmp_path: Path) -> None:
    many = "a: &a [" + "1," * 600 + "1]\nb: [" + "*a ," * 100 + "*a ]"

    assert "too large" in refusal(tmp_path, many)


def test_a_file_of_many_bytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    assert refusal(tmp_path, b"#" * 1_000_001) == "orders.yaml is larger than 1,000,000 bytes."


def test_a_file_without_an_end_is_refused() -> None:
    with pytest.raises(ConfigError, match="larger than"):
        read_document(Path("/dev/zero"))


@pytest.mark.parametrize("text", ["a: ü\n".encode("latin-1"), "a: 1\n".encode("utf-16")])
def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path, text: bytes) -> None:
    assert refusal(tmp_path, text).startswith("orders.yaml is not UTF-8 text: ")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file or directory"):
        read_document(tmp_path / "nothing.yaml")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_document(tmp_path)


# One value on its own


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("out", "out"),
        ("42", 42),
        ("true", True),
        ("no", "no"),
        ("", None),
        ("[a, b]", ["a", "b"]),
        ("{a: 1}", {"a": 1}),
        ("s3a://bucket/x", "s3a://bucket/x"),
        ("*", "*"),
        ("@x", "@x"),
        ("[a", "[a"),
        ("[" * 500, "[" * 500),
        ("a = 'b'", "a = 'b'"),
    ],
)
def test_one_value_is_read_as_a_file_would_read_it(text: str, expected: object) -> None:
    assert scalar(text) == expected


def test_one_value_that_is_ambiguous_is_refused() -> None:
    with pytest.raises(ConfigError, match="'a' stands here twice"):
        scalar("{a: 1, a: 2}")
