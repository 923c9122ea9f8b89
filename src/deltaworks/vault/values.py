"""The values of a credential, as another vault spells them."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import SecretStr

from deltaworks.errors import SetupError


def values_of(found: object, where: str) -> dict[str, SecretStr]:
    """Values by name, each as text; what is no text, number or flag is refused without being shown."""
    if not isinstance(found, Mapping):
        raise SetupError(f"{where} holds no names and values.", hint='Keep it as {"password": "…"}.')
    return {str(name): SecretStr(_text(value, f"{name!r} of {where}")) for name, value in found.items()}


def _text(value: object, what: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        raise SetupError(f"{what} is not text.", hint="Keep each value as text.")
    return str(value)
