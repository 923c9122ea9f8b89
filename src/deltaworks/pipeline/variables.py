"""`${NAME}` and `${NAME:default}` in the text of a file."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from deltaworks.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaworks.pipeline.document import Document, Key

_REFERENCE = re.compile(r"\$(?P<escaped>\$)?\{(?P<name>[^}:]+)(?::(?P<default>[^}]*))?\}")


def filled(document: Document, variables: Mapping[str, str]) -> Document:
    """The document with every reference replaced; `$${` stays as `${`."""
    return replace(document, value=_filled(document, document.value, (), variables))


def _filled(document: Document, value: Any, key: Key, variables: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(document, inner, (*key, name), variables) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(document, inner, (*key, number), variables) for number, inner in enumerate(value)]
    if isinstance(value, str):
        return _REFERENCE.sub(lambda found: _looked_up(found, document.where(key), variables), value)
    return value


def _looked_up(found: re.Match[str], where: str, variables: Mapping[str, str]) -> str:
    if found["escaped"]:
        return found[0][1:]
    place = f"{where}: " if where else ""
    if "${" in (found["default"] or ""):
        raise ConfigError(f"{place}the default of {found['name']} holds another ${{…}}.", hint="Write a plain default.")
    value = variables.get(found["name"], found["default"])
    if value is None:
        raise ConfigError(
            f"{place}the variable {found['name']} is not set.",
            hint=f"Set it in the environment, or give a default: ${{{found['name']}:value}}.",
        )
    return value
