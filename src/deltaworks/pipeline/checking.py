"""Checking a document against a model, and telling what is wrong in the words and lines of the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from deltaworks.errors import ConfigError, did_you_mean
from deltaworks.lake.model import FileModel

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from deltaworks.pipeline.document import Document, Key


class InvalidFileError(ConfigError):
    """A file that was read but says something it must not; `problems` lists all that was found."""

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        (message, hint), *more = problems
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)
        if more:
            self.hint = f"{hint} ({len(more)} more: deltaworks validate lists them.)"


Model = TypeVar("Model", bound=FileModel)


def checked(model: type[Model], document: Document) -> Model:
    """Check a document against a model; relative paths start at the document's own folder."""
    folder = document.path.parent.absolute() if document.path else Path.cwd()
    if not isinstance(document.value, dict):
        raise InvalidFileError([(f"{document.where(())}: this holds no keys.", "Write `key: value` lines.")])
    try:
        return model.model_validate(document.value, context={"folder": folder})
    except ValidationError as error:
        raise InvalidFileError([_told(document, found) for found in _causes(error.errors())]) from error


def _causes(found: list[ErrorDetails]) -> list[ErrorDetails]:
    """Leave out what only follows from another error: a list whose one item is wrong is not also too short."""
    places = [each["loc"] for each in found]
    return [each for each in found if not any(_inside(place, each["loc"]) for place in places)]


def _inside(place: tuple[int | str, ...], outer: tuple[int | str, ...]) -> bool:
    return len(place) > len(outer) and place[: len(outer)] == outer


def _told(document: Document, found: ErrorDetails) -> tuple[str, str]:
    key = _key_in_file(document.value, found["loc"])
    where = document.where((*key, found["ctx"]["discriminator"]) if found["type"].startswith("union_tag") else key)
    dotted = ".".join(str(part) for part in key) or "the file"
    message, hint = _words(found, dotted)
    return f"{where}: {message}" if where else message, hint


def _words(found: ErrorDetails, dotted: str) -> tuple[str, str]:
    context = found.get("ctx", {})
    match found["type"]:
        case "problem":
            return _problem_words(context, dotted)
        case "missing":
            return f"{dotted} is missing.", f"Add {dotted.rpartition('.')[2]}."
        case "union_tag_invalid" | "union_tag_not_found":
            return _tag_words(context, dotted)
        case "enum" | "literal_error":
            return f"{dotted}: {found['input']!r} is not known.", f"Write {context['expected']}."
        case "string_pattern_mismatch":
            return f"{dotted}: {found['input']!r} is not a name.", "Use up to 128 letters, digits, '.', '_' or '-'."
    said, hint = _limit_words(found, context) or _KINDS.get(found["type"], (found["msg"], "Change the value there."))
    return f"{dotted}: {said}.", hint


_KEYS = ("this must hold keys and values", "Write `key: value` lines below it.")
_KINDS = {
    "tuple_type": ("this must be a list", "Write [a, b], or one `- item` a line."),
    "dict_type": _KEYS,
    "model_type": _KEYS,
    "model_attributes_type": _KEYS,
    "string_type": ("this must be text", "Write text, in quotes if it looks like something else."),
}


def _limit_words(found: ErrorDetails, context: dict[str, Any]) -> tuple[str, str] | None:
    match found["type"]:
        case "greater_than_equal":
            return f"{found['input']!r} is too small", f"Write {context['ge']} or more."
        case "less_than_equal":
            return f"{found['input']!r} is too large", f"Write {context['le']} or less."
    return None


def _problem_words(context: dict[str, Any], dotted: str) -> tuple[str, str]:
    message, hint = str(context["message"]), str(context["hint"])
    if not message.startswith("Unknown key"):
        return f"{dotted}: {message}.", hint
    parent = dotted.rpartition(".")[0]
    return f"{message} in {parent}." if parent else f"{message}.", hint


def _tag_words(context: dict[str, Any], dotted: str) -> tuple[str, str]:
    key = context["discriminator"]
    if "tag" not in context:
        return f"{dotted}.{key} is missing.", f"Add {key}."
    known = str(context["expected_tags"]).split(", ")
    return f"{dotted}: {key} {context['tag']!r} is not known.", did_you_mean(str(context["tag"]), known)


def _key_in_file(value: Any, loc: tuple[int | str, ...]) -> Key:
    """Where an error's place is in the file, which nests what the models hold flat."""
    key: list[str | int] = []
    for part in loc:
        wrapper = next((name for name in _WRAPPERS if isinstance(value, dict) and _has(value.get(name), part)), None)
        if isinstance(value, dict) and part not in value and wrapper:
            key.append(wrapper)
            value = value[wrapper]
        key.append(part)
        value = _below(value, part)
    return tuple(key)


def _has(inner: Any, part: int | str) -> bool:
    return isinstance(inner, dict) and part in inner


_WRAPPERS = ("connectionParams", "parameters")


def _below(value: Any, part: int | str) -> Any:
    if isinstance(value, dict):
        return value.get(str(part))
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return None
