"""A pytest plugin: what was injected, and what became of the rows, as a table and as JSON."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from _pytest.terminal import TerminalReporter

COLUMNS = ("times", "sent", "lost", "doubled", "told", "untold")
RESULT = Path("bench/results/torture.json")
LEAST = 200  # faults, for the figures to be kept


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Print a line for each fault, and their sum."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in _verdicts(terminalreporter):
        found[verdict["fault"]].update({name: verdict[name] for name in COLUMNS})
    if not found:
        return
    whole = sum(found.values(), Counter[str]())
    failed = len(terminalreporter.stats.get("failed", [])) + len(terminalreporter.stats.get("error", []))
    terminalreporter.section("torture")
    for line in _lines({**dict(sorted(found.items())), "in all": whole}):
        terminalreporter.write_line(line)
    if whole["times"] >= LEAST:
        rows = {fault: {name: counted[name] for name in COLUMNS} for fault, counted in sorted(found.items())}
        summed = {name: whole[name] for name in COLUMNS}
        RESULT.write_text(json.dumps({"faults": rows, "in all": summed, "failed tests": failed}, indent=2) + "\n")


def _verdicts(reporter: TerminalReporter) -> Iterator[dict[str, Any]]:
    for outcome in ("passed", "failed"):
        for report in reporter.stats.get(outcome, []):
            said = dict(getattr(report, "user_properties", ()))
            if "fault" in said and report.when == "call":
                yield said


def _lines(found: Mapping[str, Counter[str]]) -> Iterator[str]:
    width = max(map(len, found))
    yield " ".join([f"{'fault':{width}}", *(f"{name:>8}" for name in COLUMNS)])
    for fault, counted in found.items():
        yield " ".join([f"{fault:{width}}", *(f"{counted[name]:>8,}" for name in COLUMNS)])
