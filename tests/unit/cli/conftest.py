"""The command line, called in this process."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import pytest
from tests.unit.cli.outcome import Cli, Outcome

from deltaworks.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Cli]:
    """Call `deltaworks` in an empty folder, on a terminal nobody looks at."""
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "JAVA_HOME", "DELTAWORKS_MASTER", "DELTAWORKS_VAULT_PASSPHRASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["deltaworks", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        return Outcome(int(left.value.code or 0), printed.out, printed.err)

    before = signal.getsignal(signal.SIGTERM)
    yield call
    signal.signal(signal.SIGTERM, before)
