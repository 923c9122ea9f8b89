"""What a command left behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """Its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed for machines."""
        return json.loads(self.out)

    @property
    def error(self) -> list[str]:
        """The lines of its error."""
        assert "Traceback" not in self.err
        return self.err.splitlines()


Cli = Callable[..., Outcome]
