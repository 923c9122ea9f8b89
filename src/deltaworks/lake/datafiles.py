"""The files that an action in the log speaks of, as storage names them."""

from __future__ import annotations

from base64 import b85decode
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_DIGITS = "0123456789"
_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# The log spells numbers to the base of 85 as ZeroMQ does, Python's library as Git does.
_OTHER_BASE = str.maketrans(
    f"{_DIGITS}{_UPPER.lower()}{_UPPER}.-:+=^!/*?&<>()[]{{}}@%$#",
    f"{_DIGITS}{_UPPER}{_UPPER.lower()}!#$%&()*+-;<=>?@^_`{{|}}~",
)


def names(actions: Iterable[Mapping[str, Any]], *kinds: str) -> set[str]:
    """The files that actions of these kinds speak of, below the table's folder.

    A shallow clone also has files of the table it was made from: they are not ours to judge.
    """
    files = [action[kind] for action in actions for kind in kinds if kind in action]
    found = {unquote(file["path"]) for file in files if _is_ours(file["path"])}
    return found | {name for file in files if (name := _vector(file.get("deletionVector") or {}))}


def _is_ours(path: str) -> bool:
    return not urlsplit(path).scheme and not path.startswith("/")


def _vector(vector: Mapping[str, Any]) -> str | None:
    if vector.get("storageType") != "u":  # the others are inside the log, or at an address of their own
        return None
    text = vector["pathOrInlineDv"]
    folder, number = text[:-20], UUID(bytes=b85decode(text[-20:].translate(_OTHER_BASE)))
    return f"{folder}/deletion_vector_{number}.bin" if folder else f"deletion_vector_{number}.bin"
