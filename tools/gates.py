"""A pytest plugin for the whole suite: the Delta components are covered to the last line."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import coverage
import pytest

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

DELTA = ("src/deltaworks/lake/*", "src/deltaworks/spark/sources/delta*.py", "src/deltaworks/spark/sinks/delta*.py")
FAILURES = pytest.StashKey[list[str]]()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Judge the coverage that pytest-cov has combined by now; fail a run that would have passed."""
    if hasattr(session.config, "workerinput"):  # one of several processes; the one that started them judges
        return
    measured = coverage.Coverage()
    measured.load()
    failures = [failure for pattern in DELTA if (failure := gap(measured, pattern))]
    session.config.stash[FAILURES] = failures
    if failures and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Show the gates that were missed, above the closing line."""
    for failure in terminalreporter.config.stash.get(FAILURES, []):
        terminalreporter.write_line(f"FAIL {failure}", red=True, bold=True)


def gap(measured: coverage.Coverage, pattern: str) -> str | None:
    """Say what is missing from full coverage of the files that match the pattern; nothing measured is a gap too."""
    try:
        percent = measured.report(include=[pattern], file=io.StringIO())
    except coverage.exceptions.NoDataError:
        return f"Nothing was measured of {pattern}"
    return None if percent == 100 else f"100 % of {pattern} must be covered, and {percent:.2f} % is"
