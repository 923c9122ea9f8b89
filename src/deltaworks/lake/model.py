"""What people write in files, checked: camelCase, unknown keys refused, string spellings accepted."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError
from pydantic_core.core_schema import no_info_before_validator_function

from deltaworks.errors import ConfigError, did_you_mean
from deltaworks.lake.descriptions import descriptions
from deltaworks.lake.globs import check_pattern, escaped
from deltaworks.lake.storage import one_spelling
from deltaworks.vault.storage import refuse_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class FileModel(BaseModel):
    """A part of a file. Its fields are the format, the validation and the reference page."""

    # Built when first used: a command pays only for the parts it reads.
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _only_known_keys(cls, data: Any) -> Any:
        if isinstance(data, dict):
            refuse_unknown(cls.__name__, data, cls.keys())
        return data

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        """Describe each key with the text below its field."""
        schema: dict[str, Any] = handler.resolve_ref_schema(handler(core_schema))
        fields = schema.get("properties", {})
        for key, text in cls.meanings().items():
            if key in fields:
                fields[key]["description"] = text
        return schema

    @classmethod
    def keys(cls) -> frozenset[str]:
        """The keys this part takes, as a file spells them."""
        return frozenset(field.alias or name for name, field in cls.model_fields.items())

    @classmethod
    def meanings(cls) -> dict[str, str]:
        """What each key means, by the text below its field."""
        texts = descriptions(cls)
        return {field.alias or name: texts[name] for name, field in cls.model_fields.items() if name in texts}


def refuse_unknown(title: str, data: Mapping[str, Any], known: frozenset[str]) -> None:
    """Refuse each key that is not known, with the closest one that is."""
    unknown = [key for key in data if key not in known]
    if unknown:
        raise ValidationError.from_exception_data(title, [_unknown_key(key, data[key], known) for key in unknown])


def problem(message: str, hint: str) -> PydanticCustomError:
    """A problem with a value, and what to write instead."""
    return PydanticCustomError("problem", "{message}", {"message": message, "hint": hint})


@contextmanager
def as_problem() -> Iterator[None]:
    """Let what a check refuses count as a problem with the value that it looked at."""
    try:
        yield
    except ConfigError as error:
        raise problem(str(error).rstrip("."), error.hint) from None


def _unknown_key(key: str, value: Any, known: frozenset[str]) -> InitErrorDetails:
    error = problem(f"Unknown key {key!r}", did_you_mean(str(key), known))
    return InitErrorDetails(type=error, loc=(key,), input=value)


class Step(FileModel):
    """A part whose own keys stand one level deeper in the file: flat in code, nested on disk."""

    nested_under: ClassVar[str] = "connectionParams"
    outer: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _unwrapped(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        cls._refuse_misplaced(data)
        if cls.nested_under not in data:
            return data
        flat = {key: value for key, value in data.items() if key != cls.nested_under}
        inner = data[cls.nested_under] or {}
        if not isinstance(inner, dict):
            raise problem(f"{cls.nested_under} must hold keys and values", "Write one `key: value` a line below it.")
        for key, value in inner.items():
            if key in flat and flat[key] != value:
                raise problem(f"{key!r} is said twice, as {flat[key]!r} and as {value!r}", "Leave one of them out.")
        return flat | inner

    @classmethod
    def _refuse_misplaced(cls, data: dict[str, Any]) -> None:
        inner = cls.keys() - cls.outer - _EITHER
        hint = f"Move it below {cls.nested_under}."
        misplaced = [
            InitErrorDetails(type=problem(f"{key!r} stands one level too high", hint), loc=(key,), input=value)
            for key, value in data.items()
            if key in inner
        ]
        if misplaced:
            raise ValidationError.from_exception_data(cls.__name__, misplaced)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        """Describe the nested shape, as files have it."""
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        fields = schema.get("properties", {})
        inner = {key: field for key, field in fields.items() if key not in cls.outer}
        schema["properties"] = {key: field for key, field in fields.items() if key in cls.outer} | {
            # Some keys of the step may also stand beside its type, the other spelling of the format.
            **{key: field for key, field in inner.items() if key in _EITHER},
            cls.nested_under: {"type": "object", "properties": inner, "additionalProperties": False},
        }
        schema["required"] = [key for key in schema.get("required", []) if key in cls.outer]
        return schema


_EITHER = frozenset({"path", "table", "query", "schemaName"})


def _flag(value: Any) -> Any:
    if isinstance(value, str) and value in {"true", "false"}:
        return value == "true"
    if not isinstance(value, bool):
        raise problem(f"{value!r} is neither true nor false", "Write true or false.")
    return value


def _whole(value: Any) -> Any:
    if isinstance(value, str) and value.strip().lstrip("-").isdigit():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise problem(f"{value!r} is not a whole number", "Write a number such as 42.")
    return value


def _columns(value: Any) -> Any:
    names = from_json_text(value)
    if isinstance(names, str):
        if "," in names:
            parts = [part.strip() for part in names.split(",")]
            raise problem(f"{names!r} is not a column name", f"For several columns write {json.dumps(parts)}.")
        names = [names]
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) and name for name in names):
        raise problem(f"{value!r} is not a list of column names", 'Write ["id"] or ["id", "date"].')
    if len(set(names)) < len(names):
        raise problem(f"{value!r} names a column twice", "Name each column once.")
    return tuple(names)


def _bytes(value: Any) -> Any:
    found = re.fullmatch(r"\s*(\d+)\s*([kmgt]?)i?b?\s*", str(value).lower())
    if isinstance(value, bool) or not found or int(found[1]) == 0:
        raise problem(f"{value!r} is not a size", 'Write "128MB", or a number of bytes.')
    return int(found[1]) * 1024 ** " kmgt".index(found[2] or " ")


def from_json_text(value: Any) -> Any:
    """Read a list or an object that was written as JSON inside a string; anything else stays."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise problem(
            f"{value!r} is not valid JSON: {error}", 'Write it as a list, or as text such as "[\\"id\\"]".'
        ) from None


class FromText:
    """Marks a field that may also be written as JSON inside a string."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_before_validator_function(from_json_text, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [handler(schema), {"type": "string"}]}


def _resolved(path: str, info: ValidationInfo) -> str:
    return _below((info.context or {}).get("folder"), path)


def _resolved_pattern(path: str, info: ValidationInfo) -> str:
    folder = (info.context or {}).get("folder")
    with as_problem():
        check_pattern(path)
    # Only what the file says is a pattern, not the folder it happens to be in.
    return _below(None if folder is None else Path(escaped(str(folder))), path)


def _below(folder: Path | None, path: str) -> str:
    if not path.strip() or "\0" in path:
        raise problem(f"{path!r} is not a path", "Write a path or a URI; is a variable in it empty?")
    if "://" in path or path.startswith("file:"):
        return one_spelling(path)
    return str(_expanded(path) if folder is None else folder / _expanded(path))


def _expanded(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError as error:  # ~somebody, who has no home here
        raise problem(f"{path!r} is not a path: {error}", "Write the whole path.") from None


Values = TypeVar("Values", bound="Mapping[str, Any]")


def _without_secrets(options: Values) -> Values:
    with as_problem():
        refuse_secrets(options)
    return options


_COLUMN_LIST = {"anyOf": [{"type": "array", "items": {"type": "string"}, "minItems": 1}, {"type": "string"}]}
FLAG = {"anyOf": [{"type": "boolean"}, {"type": "string", "pattern": r"^(true|false)$|\$\{"}]}
_WHOLE = {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^-?[0-9]+$|\$\{"}]}

Flag = Annotated[bool, BeforeValidator(_flag), WithJsonSchema(FLAG)]
"""`true`, or the text `"true"`."""
Whole = Annotated[int, BeforeValidator(_whole), WithJsonSchema(_WHOLE)]
"""`42`, or the text `"42"`."""
Bytes = Annotated[int, BeforeValidator(_bytes), WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string"}]})]
"""`"128MB"`, or a number of bytes."""
Columns = Annotated[tuple[str, ...], BeforeValidator(_columns), WithJsonSchema(_COLUMN_LIST)]
"""`["id", "date"]`, the same as text, or one bare name."""
Location = Annotated[str, AfterValidator(_resolved)]
"""A path or URI; a relative path starts at the folder of the file it stands in."""
Pattern = Annotated[str, AfterValidator(_resolved_pattern)]
"""A path to read, or a pattern that means several; a relative one starts at the folder of the file it stands in."""
NoSecrets = AfterValidator(_without_secrets)
"""Marks options, none of which may hold a secret of the storage."""
