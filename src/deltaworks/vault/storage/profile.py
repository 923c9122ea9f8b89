"""The keys of an AWS profile: what most laptops have instead of a role."""

from __future__ import annotations

from configparser import ConfigParser, Error
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def profile(variables: Mapping[str, str]) -> dict[str, str]:
    """What the profile in force says of keys and region; empty when there is none."""
    name = variables.get("AWS_PROFILE") or "default"
    home = Path(variables.get("HOME") or "/nonexistent") / ".aws"
    credentials = _section(variables.get("AWS_SHARED_CREDENTIALS_FILE") or home / "credentials", name)
    section = name if name == "default" else f"profile {name}"
    config = _section(variables.get("AWS_CONFIG_FILE") or home / "config", section)
    return {key.removeprefix("aws_"): value for key, value in {**config, **credentials}.items() if key in _WANTED}


_WANTED = {"aws_access_key_id", "aws_secret_access_key", "aws_session_token", "region"}


def _section(path: str | Path, name: str) -> dict[str, str]:
    found = ConfigParser(interpolation=None)
    try:
        found.read(path, encoding="utf-8")
    except (Error, OSError, UnicodeDecodeError):
        return {}  # the engines' own chains say what is wrong with it
    return dict(found[name]) if found.has_section(name) else {}
