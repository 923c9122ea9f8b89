from __future__ import annotations

import os
import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr
from tests.unit.pipeline.files import TEXT, saved
from tests.unit.tables import append, land

from deltaworks.vault.file import FileVault
from deltaworks.vault.keys import Keys

if TYPE_CHECKING:
    from pathlib import Path

SOON = 0.5  # seconds of work, from typing to answer; more pass where other programs have the machine
LATE = 10  # seconds that pass
TRIES = 6
ROUNDS = 8
SLOW = 2.25  # times what importing the libraries takes; commands take 1.6 to 2 times
LIBRARIES = ("-c", "import importlib.metadata, logging, pydantic.fields, pydantic.types, typer.main, yaml")


def is_soon(folder: Path, *words: str) -> bool:
    """Half a second; on a machine that is slow just now, not much more than importing the libraries takes there."""
    command = ("-m", "deltaworks.cli.main", *words)
    if any(seconds(folder, *command) < SOON for _ in range(TRIES)):
        return True
    # In turn, so that both meet the same moments of the machine.
    both = [(seconds(folder, *command), seconds(folder, *LIBRARIES)) for _ in range(ROUNDS)]
    return min(own for own, _ in both) < SLOW * min(libraries for _, libraries in both)


def seconds(folder: Path, *words: str) -> float:
    """How long a command of Python works."""
    # Without those that make every process measure its coverage; with bytecode kept, as pip installs it.
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTHONDONT"))}
    variables["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    before = worked()
    subprocess.run([sys.executable, *words], cwd=folder, env=variables, capture_output=True, check=True, timeout=LATE)
    return worked() - before


def worked() -> float:
    """Seconds that commands which have ended spent on a processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_validate_answers_in_under_half_a_second(tmp_path: Path) -> None:
    saved(tmp_path, TEXT)

    assert is_soon(tmp_path, "validate", "orders.yaml")


@pytest.mark.parametrize("command", ["info", "history", "schema"])
def test_a_look_at_a_small_table_takes_under_half_a_second(tmp_path: Path, command: str) -> None:
    for day in range(20):
        land(tmp_path / "orders", f"day {day}")
    append(tmp_path / "orders")

    assert is_soon(tmp_path, "table", command, "orders")


def test_a_look_into_a_vault_takes_under_half_a_second(tmp_path: Path) -> None:
    vault = FileVault(tmp_path / "v/vault.sealed", Keys(file=tmp_path / "v/vault.sealed.key"))
    vault.create("file")
    vault.put("pg", {"password": SecretStr("canary")})
    saved(tmp_path, "vault: {type: file, path: v/vault.sealed}\n", "deltaworks.yaml")

    assert is_soon(tmp_path, "vault", "list")
