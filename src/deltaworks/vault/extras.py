"""Packages that only some installations need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from deltaworks.errors import SetupError


def required(package: str, extra: str) -> Any:
    """Import a package; where it is missing, say what to install."""
    try:
        return import_module(package)
    except ImportError:
        raise SetupError(
            f"The Python package `{package}` is not installed.", hint=f"Run `pip install 'deltaworks[{extra}]'`."
        ) from None
