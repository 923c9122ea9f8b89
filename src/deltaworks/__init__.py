"""Declarative pipelines that land data in Delta Lake exactly once."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltaworks.api import extract, load, plan, run, validate
    from deltaworks.errors import DeltaworksError
    from deltaworks.lake.mode import WriteMode
    from deltaworks.lake.table import Table, open_table
    from deltaworks.runs.result import LoadResult, RunResult
    from deltaworks.vault import CredentialVault, EnvironmentVault, MemoryVault

_HOMES = {
    "extract": "api",
    "load": "api",
    "plan": "api",
    "run": "api",
    "validate": "api",
    "DeltaworksError": "errors",
    "WriteMode": "lake.mode",
    "Table": "lake.table",
    "open_table": "lake.table",
    "LoadResult": "runs.result",
    "RunResult": "runs.result",
    "CredentialVault": "vault",
    "EnvironmentVault": "vault",
    "MemoryVault": "vault",
}

__all__ = [
    "CredentialVault",
    "DeltaworksError",
    "EnvironmentVault",
    "LoadResult",
    "MemoryVault",
    "RunResult",
    "Table",
    "WriteMode",
    "extract",
    "load",
    "open_table",
    "plan",
    "run",
    "validate",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import deltaworks` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'deltaworks' has no attribute {name!r}")
    return getattr(import_module(f"deltaworks.{_HOMES[name]}"), name)
