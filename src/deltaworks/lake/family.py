"""A part of a file that is one of a family, of which only the member that is named is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter, ValidationInfo
from pydantic_core import CoreSchema, PydanticKnownError
from pydantic_core.core_schema import tagged_union_schema, with_info_plain_validator_function

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaworks.lake.model import FileModel


@dataclass(frozen=True, slots=True, eq=False)
class OneOf:
    """Marks a field whose value says by `key` which member it is; `members` are the places of their models."""

    key: str
    members: Mapping[str, str]

    def model(self, tag: str) -> type[FileModel]:
        """One member."""
        module, _, name = self.members[tag].rpartition(".")
        found: type[FileModel] = getattr(import_module(module), name)
        return found

    def models(self) -> tuple[type[FileModel], ...]:
        """All members, each once."""
        return tuple(dict.fromkeys(self.model(tag) for tag in self.members))

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return with_info_plain_validator_function(self._checked)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        choices = {tag: TypeAdapter(self.model(tag)).core_schema for tag in self.members}
        return handler(tagged_union_schema(choices, self.key))

    def _checked(self, value: Any, info: ValidationInfo) -> FileModel:
        if not isinstance(value, dict):
            raise PydanticKnownError("dict_type")
        tag = value.get(self.key)
        if tag is None:
            raise PydanticKnownError("union_tag_not_found", {"discriminator": self.key})
        if not isinstance(tag, str) or tag not in self.members:
            known = ", ".join(self.members)
            context = {"discriminator": self.key, "tag": str(tag), "expected_tags": known}
            raise PydanticKnownError("union_tag_invalid", context)
        return self.model(tag).model_validate(value, context=info.context)
