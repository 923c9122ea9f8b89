"""Secrets that no test may leave lying about: each is found nowhere else, and the whole run is searched for it.

As a pytest plugin (`-p tests.canaries`) it looks, when the run ends, through every file that the run made, Spark's
event logs, Delta logs and run records included, through all that tests printed, and through the arguments of all
processes.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from _pytest.terminal import TerminalReporter

REGISTER = "canaries"
KNOWS_THEM = {REGISTER, "facts.json"}  # names of files that hold canaries on purpose
LARGEST = 64 << 20
FOUND = pytest.StashKey[list[str]]()
WATCH = pytest.StashKey["Watch"]()


def new_canary(folder: Path) -> str:
    """A secret of its own, which the run that has this folder is searched for at its end."""
    # Reads differently in a URL, in JSON and in base64, so that a search must know all of them.
    canary = f'canary-{secrets.token_hex(8)}/+"%{secrets.token_hex(8)}'
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / REGISTER).open("a", encoding="utf-8") as register:
        register.write(f"{canary}\n")
    return canary


def spellings(secret: str) -> set[str]:
    """A secret raw, URL-encoded, in base64 wherever it begins, and escaped for JSON once and twice."""
    once = json.dumps(secret)[1:-1]
    found = {secret, quote(secret, safe=""), quote_plus(secret), quote(secret), once, json.dumps(once)[1:-1]}
    for before in range(3):
        inside = base64.b64encode(b"\0" * before + secret.encode()).decode()
        # The letters at both ends depend on the neighbours too.
        whole = inside[-(-before * 8 // 6) : len(inside) - 4].rstrip("=")
        found |= {whole, whole.replace("+", "-").replace("/", "_")}
    return found


class Search:
    """Finds any of several secrets, in any spelling."""

    def __init__(self, canaries: Iterable[str]) -> None:
        words = {word for canary in canaries for word in spellings(canary)}
        self.pattern = re.compile("|".join(map(re.escape, sorted(words))).encode()) if words else None

    def text(self, text: bytes) -> bool:
        """Whether a secret is in a text."""
        return self.pattern is not None and self.pattern.search(text) is not None

    def files(self, folder: Path) -> Iterator[Path]:
        """The files below a folder that hold a secret, or have one in their name."""
        for path in sorted(folder.rglob("*")):
            if path.name in KNOWS_THEM or path.suffix == ".properties" or not path.is_file() or path.is_symlink():
                continue
            named = self.text(str(path).encode())
            if named or (path.stat().st_size <= LARGEST and self.text(path.read_bytes())):
                yield path


class Watch:
    """Remembers the arguments of every process there was, and what tests printed."""

    def __init__(self) -> None:
        self.commands: set[bytes] = set()
        self.printed: list[tuple[str, bytes]] = []
        self._stop = Event()
        self._eye = Thread(target=self._look, daemon=True)
        self._eye.start()

    def _look(self) -> None:
        while not self._stop.wait(0.2):
            self.commands.update(commands())

    def end(self) -> None:
        """Look no more."""
        self._stop.set()
        self._eye.join()


def commands() -> Iterator[bytes]:
    """The arguments of all processes of this machine that we may see."""
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield process.read_bytes()
        except OSError:
            continue  # it has ended


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch; of several processes, the one that started them does."""
    if not hasattr(config, "workerinput"):
        config.stash[WATCH] = Watch()


class _Reports:
    """Hears what every test printed."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        text = "\n".join(content for _, content in report.sections)
        if text:
            self.watch.printed.append((report.nodeid, text.encode()))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Listen to the tests."""
    watch = session.config.stash.get(WATCH, None)
    if watch is not None:
        session.config.pluginmanager.register(_Reports(watch))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Search all that the run left; fail a run that would have passed."""
    watch = session.config.stash.get(WATCH, None)
    if watch is None:
        return
    watch.end()
    folder = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    found = list(searched(folder, watch))
    session.config.stash[FOUND] = found
    if found and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def searched(folder: Path, watch: Watch) -> Iterator[str]:
    """Where canaries were found."""
    canaries = [line for path in folder.rglob(REGISTER) for line in path.read_text(encoding="utf-8").splitlines()]
    search = Search(canaries)
    yield from (f"a secret is in {path}" for path in search.files(folder))
    yield from (f"a secret is in what {test} printed" for test, text in watch.printed if search.text(text))
    names = (command.split(b"\0")[0].decode(errors="replace") for command in watch.commands if search.text(command))
    yield from (f"a secret is in the arguments of {name}" for name in names)


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Show where secrets were found, above the closing line."""
    for found in terminalreporter.config.stash.get(FOUND, []):
        terminalreporter.write_line(f"FAIL {found}", red=True, bold=True)
