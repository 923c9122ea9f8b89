"""Loads through the public face, and what other writers do meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import deltaworks
from deltaworks import failpoints

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from pyspark.sql import DataFrame

    from deltaworks.runs.result import LoadResult


def load(
    rows: DataFrame,
    path: Path,
    mode: str,
    *,
    key: str | None = None,
    options: dict[str, Any] | None = None,
    **params: Any,
) -> LoadResult:
    """Load rows into the table at a path."""
    config = {"sinkType": "DeltaLake", "connectionParams": {"path": str(path), **params}, "options": options or {}}
    return deltaworks.load(rows, config, mode, pipeline_id="orders" if key else None, key=key)


def landed(result: LoadResult) -> LoadResult:
    """Insist that a load landed."""
    assert result.success, f"{result.error} {result.hint}"
    return result


def meanwhile(monkeypatch: pytest.MonkeyPatch, *acts: Callable[[], object]) -> None:
    """Let other writers act, one at each try, after a load has looked at the table and before it writes."""
    left = iter(acts)

    def reach(name: str) -> None:
        if name == "before_commit":
            next(left, bool)()

    monkeypatch.setattr(failpoints, "reach", reach)
