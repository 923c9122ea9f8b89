"""A JSON or YAML file, read with care: every value knows its line."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_BYTES = 1_000_000
MAX_DEPTH = 40
MAX_VALUES = 50_000

Key = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The values of a file, and where in it each one stands."""

    value: Any
    path: Path | None = None
    lines: Mapping[Key, int] = field(default_factory=dict)

    def where(self, key: Key) -> str:
        """`file:line` of a value, or of the nearest one around it."""
        if self.path is None:
            return ""
        while key and key not in self.lines:
            key = key[:-1]
        line = self.lines.get(key)
        return f"{self.path.name}:{line}" if line else self.path.name


class UnreadableFileError(ConfigError):
    """A file that is not there, is empty, or is no JSON or YAML."""


def read_document(path: Path) -> Document:
    """Read a JSON or YAML file; every problem names its line and column."""
    text = _text(path)
    if path.suffix.lower() != ".json":
        return _document(path, text)
    # JSON is YAML but for a few signs: read as such, it tells the lines and the keys that stand twice.
    value = _json(path, text)
    return replace(_document(path, _NOT_IN_YAML.sub(" ", text)), value=value)


_NOT_IN_YAML = re.compile("[\t\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableFileError(
            f"{path} cannot be read: {error.strerror}.", hint="Give the path of a pipeline file, .yaml or .json."
        ) from error
    if len(raw) > MAX_BYTES:
        raise UnreadableFileError(f"{path.name} is larger than {MAX_BYTES:,} bytes.", hint="Is it a pipeline file?")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFileError(
            f"{path.name} is not UTF-8 text: {error.reason}.", hint="Save it as UTF-8."
        ) from error
    if not text.strip():
        raise UnreadableFileError(f"{path.name} is empty.", hint="Start with pipelineId, extract, load and writeMode.")
    return text


def _json(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableFileError(
            f"{path.name}:{error.lineno}:{error.colno}: this is not JSON: {error.msg}.", hint="Mend the file there."
        ) from error
    except (ValueError, RecursionError) as error:
        raise UnreadableFileError(f"{path.name} is not JSON we can read: {error}.", hint=_SMALL) from error


def _document(path: Path, text: str) -> Document:
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path.name}:{mark.line + 1}:{mark.column + 1}" if mark else path.name
        raise UnreadableFileError(
            f"{place}: this is not YAML: {_said(error)}.", hint="Mend the file there; quote text with special signs."
        ) from error
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = f"{path.name}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
        raise UnreadableFileError(
            f"{place}: this is not YAML: the sign {chr(error.character)!r} is not allowed.", hint="Take it out."
        ) from error
    except RecursionError as error:
        raise UnreadableFileError(f"{path.name} is too deep.", hint=_SMALL) from error
    if node is None:
        raise UnreadableFileError(f"{path.name} is empty.", hint="Start with pipelineId, extract, load and writeMode.")
    walk = _Walk(path)
    return Document(walk.value(node, ()), path, walk.lines)


def _said(error: yaml.MarkedYAMLError) -> str:
    said = str(error.problem)
    return f"{error.context}, {said}" if said.startswith("but ") else said


_SMALL = "A pipeline file is small; is this one?"


class _Loader(yaml.SafeLoader):
    """Reads scalars as YAML 1.2 does: `no` and `on` are words, `012` is twelve."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), [*_first, ""])


_BOOLEANS = {"true": True, "false": False}
_SCALARS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "null": lambda _: None,
    "bool": lambda text: _BOOLEANS[text.lower()],
    "int": int,
    "float": float,
}


class _Walk:
    """Turns nodes into values, noting lines and refusing what would be ambiguous or endless."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[Key, int] = {}
        self._count = 0

    def value(self, node: yaml.Node, key: Key) -> Any:
        self.lines.setdefault(key, node.start_mark.line + 1)
        self._count += 1
        if len(key) > MAX_DEPTH or self._count > MAX_VALUES:
            raise self._refused(node, "too deep or too large", _SMALL)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, key)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*key, number)) for number, item in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, key: Key) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name_node, value_node in node.value:
            if not isinstance(name_node, yaml.ScalarNode):
                raise self._refused(name_node, "a key must be text", "Write `key: value`.")
            name = name_node.value
            if name in found:
                raise self._refused(name_node, f"the key {name!r} stands here twice", "Leave one of them out.")
            self.lines[(*key, name)] = name_node.start_mark.line + 1
            found[name] = self.value(value_node, (*key, name))
        return found

    def _scalar(self, node: yaml.Node) -> Any:
        kind = node.tag.rpartition(":")[2]
        if kind not in _SCALARS:
            raise self._refused(node, f"the tag {node.tag} is not known", "Write plain text, numbers, true or false.")
        try:
            return _SCALARS[kind](node.value)
        except (ValueError, KeyError):
            raise self._refused(
                node, f"{node.value[:40]!r} is no {kind} we can read", "Quote it to make it text."
            ) from None

    def _refused(self, node: yaml.Node, what: str, hint: str) -> UnreadableFileError:
        mark = node.start_mark
        return UnreadableFileError(f"{self.path.name}:{mark.line + 1}:{mark.column + 1}: {what}.", hint=hint)


def scalar(text: str) -> Any:
    """Read one value as a file would: `true`, `42`, `[a, b]` or text."""
    try:
        node = yaml.compose(text, Loader=_Loader)
    except (yaml.YAMLError, RecursionError):
        return text
    return None if node is None else _Walk(Path("--set")).value(node, ())
