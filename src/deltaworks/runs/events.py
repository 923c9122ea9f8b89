"""What a run tells while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """A run has come to a new stage."""

    pipeline: str
    name: str
    detail: str = ""


Observer = Callable[[Stage], None]


def unobserved(stage: Stage) -> None:
    """An observer that does not care."""
