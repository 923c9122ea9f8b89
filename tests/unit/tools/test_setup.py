from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tools import setup
from tools.problem import Problem, reporting

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "constraints.txt").write_text("rich==15.0.0\n")
    write_project(tmp_path, version="1")
    return tmp_path


def write_project(folder: Path, *, version: str, line_length: int = 120) -> None:
    (folder / "pyproject.toml").write_text(
        f"[build-system]\nrequires = []\n[project]\nversion = '{version}'\n[tool.ruff]\nline-length = {line_length}\n"
    )


def test_other_pins_or_dependencies_ask_for_a_new_set_up(clone: Path) -> None:
    before = setup.fingerprint(clone)
    write_project(clone, version="2")
    middle = setup.fingerprint(clone)
    (clone / "constraints.txt").write_text("rich==15.0.1\n")

    assert len({before, middle, setup.fingerprint(clone)}) == 3


def test_a_change_of_lint_rules_asks_for_none(clone: Path) -> None:
    before = setup.fingerprint(clone)
    write_project(clone, version="1", line_length=100)

    assert setup.fingerprint(clone) == before


def test_a_set_up_that_did_not_finish_is_not_ready(clone: Path) -> None:
    stamp, wanted = clone / "setup.stamp", setup.fingerprint(clone)

    assert not setup.is_ready(stamp, wanted)
    stamp.write_text(wanted)
    assert setup.is_ready(stamp, wanted)


def test_the_cache_follows_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert setup.cache() == tmp_path / ".cache/deltaworks"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert setup.cache() == tmp_path / "elsewhere/deltaworks"


def test_a_second_set_up_waits_for_what_a_killed_one_left_running(tmp_path: Path) -> None:
    with setup.locked(tmp_path / "cache/setup.lock"):
        orphan = subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False)
    take = (
        f"import fcntl; fcntl.flock(open({str(tmp_path / 'cache/setup.lock')!r}, 'w'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    )
    while_it_runs = subprocess.run([sys.executable, "-c", take], capture_output=True, check=False)
    orphan.communicate()
    afterwards = subprocess.run([sys.executable, "-c", take], capture_output=True, check=False)

    assert b"BlockingIOError" in while_it_runs.stderr
    assert afterwards.returncode == 0


def test_a_python_without_ensurepip_names_the_debian_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    with pytest.raises(Problem) as raised:
        setup.make_venv(tmp_path / ".venv")

    assert f"python3.{sys.version_info.minor}-venv" in raised.value.hint


def test_a_log_store_that_cannot_be_made_ends_set_up_the_same_way(tmp_path: Path) -> None:
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nexit 3\n")
    python.chmod(0o755)

    with pytest.raises(SystemExit) as stopped:
        setup.make_log_store(tmp_path)

    assert stopped.value.code == 3


def test_a_problem_is_two_lines_and_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise Problem("No Java.", hint="Install one.")

    with pytest.raises(SystemExit) as stopped:
        reporting(work)

    assert stopped.value.code == 3
    assert capsys.readouterr().err == "Error: No Java.\nHint: Install one.\n"


@pytest.mark.parametrize("script", ["case $1 in -c) exit 1;; esac", None])
def test_a_python_that_is_too_old_or_missing_is_one_clear_error(script: str | None, tmp_path: Path) -> None:
    python = tmp_path / "python"
    if script:
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
    done = subprocess.run(
        ["make", "setup", f"PYTHON={python}"], cwd=setup.ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert done.stderr.splitlines()[0].startswith("Error: Python 3.11 or later is needed")
    assert done.stderr.splitlines()[1].startswith("Hint: Install one")
