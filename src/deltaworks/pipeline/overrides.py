"""`--set path.to.key=value`: values given on the command line."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from deltaworks.errors import ConfigError
from deltaworks.pipeline.document import scalar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaworks.pipeline.document import Document

_SEGMENT = re.compile(r'"(?P<quoted>[^"]+)"|(?P<plain>[^".]+)')
_PATH = re.compile(rf"(?:{_SEGMENT.pattern})(?:\.(?:\"[^\"]+\"|[^\".]+))*")


def parsed(settings: list[str]) -> dict[str, Any]:
    """Read `path=value` arguments; the value is read as a file would read it."""
    found = {}
    for setting in settings:
        match = re.fullmatch(r'((?:"[^"]*"|[^"=])+)=(.*)', setting, re.DOTALL)
        if match is None:
            raise ConfigError(f"--set {setting!r} has no value.", hint="Write --set path.to.key=value.")
        found[match[1]] = scalar(match[2])
    return found


def changed(document: Document, settings: Mapping[str, Any]) -> Document:
    """The document with these values in place of its own."""
    value = document.value
    for path, new in settings.items():
        value = _with(value, _segments(path), new, path)
    return replace(document, value=value)


def _segments(path: str) -> list[str]:
    if not _PATH.fullmatch(path):
        raise ConfigError(f"--set cannot read the path {path!r}.", hint='Write path.to.key or path."dotted.key".')
    return [match["quoted"] or match["plain"] for match in _SEGMENT.finditer(path)]


def _with(value: Any, segments: list[str], new: Any, path: str) -> Any:
    if not segments:
        return new
    first, *rest = segments
    if isinstance(value, list):
        at = _item(value, first, path)
        return [*value[:at], _with(value[at], rest, new, path), *value[at + 1 :]]
    if value is not None and not isinstance(value, dict):
        raise ConfigError(f"--set {path}: there is nothing below {value!r}.", hint="Check the path.")
    inner = value or {}
    return {**inner, first: _with(inner.get(first), rest, new, path)}


def _item(items: list[Any], segment: str, path: str) -> int:
    if not segment.isdigit() or int(segment) >= len(items):
        raise ConfigError(
            f"--set {path}: the list has no item {segment!r}.", hint=f"It has {len(items)}, counted from 0."
        )
    return int(segment)
