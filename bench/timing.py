"""Timing of peers in one run: interleaved, so that a busy minute of the machine hits all of them alike."""

from __future__ import annotations

import json
import os
import platform
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RESULTS = Path(__file__).with_name("results")


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """How long one peer took, each time, in seconds."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The time in the middle."""
        return median(self.seconds)

    def __str__(self) -> str:
        return f"{self.median:.2f} s (from {min(self.seconds):.2f} to {max(self.seconds):.2f})"


def interleaved(peers: Mapping[str, Callable[[], float]], *, rounds: int) -> dict[str, Times]:
    """Ask every peer for its seconds once per round, in turn."""
    seconds: dict[str, list[float]] = {name: [] for name in peers}
    for number in range(rounds):
        for name, act in peers.items():
            seconds[name].append(act())
            print(f"  round {number + 1} of {rounds}: {name} {seconds[name][-1]:.2f} s", flush=True)
    return {name: Times(seconds=tuple(found)) for name, found in seconds.items()}


def elapsed(act: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def save(name: str, times: Mapping[str, Times], **facts: Any) -> Path:
    """Keep the times and what they mean as JSON."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    machine = {"cores": os.cpu_count(), "system": platform.platform(), "python": platform.python_version()}
    peers = {peer: asdict(found) | {"median": found.median} for peer, found in times.items()}
    path.write_text(json.dumps({**facts, "peers": peers, "machine": machine}, indent=2) + "\n", encoding="utf-8")
    return path
