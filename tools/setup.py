"""Make a clone ready: `.venv` with the pinned packages and this project, editable, and the log store's jar."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import subprocess
import sys
import time
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tools import logstore, packages
from tools.java import require_java
from tools.problem import Problem, reporting
from tools.wheelhouse import Wheelhouse

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Set up unless what set-up depends on is as it was."""
    stamp, wanted = ROOT / ".venv/setup.stamp", fingerprint(ROOT)
    if is_ready(stamp, wanted) and logstore.is_current(ROOT):
        return
    require_java()
    with locked(cache() / "setup.lock"):
        if not is_ready(stamp, wanted):  # another set-up may have done it meanwhile
            set_up(ROOT, cache())
            stamp.write_text(wanted, encoding="utf-8")
        make_log_store(ROOT)


def set_up(root: Path, cache: Path) -> None:
    """Make a new virtual environment and fill it."""
    started = time.monotonic()
    print("Setting up .venv with the pinned packages; the first time on a machine takes minutes …", flush=True)
    wheels = cache / "wheels"
    wheels.mkdir(exist_ok=True)
    make_venv(root / ".venv")
    Wheelhouse(wheels, root).install()
    print(f"Set up in {time.monotonic() - started:.0f} s.", flush=True)


def make_venv(folder: Path) -> None:
    """Make an empty virtual environment with pip in it, whatever was there before."""
    (folder / "setup.stamp").unlink(missing_ok=True)
    if importlib.util.find_spec("ensurepip") is None:  # Debian ships it apart
        packages.install([f"python{sys.version_info.major}.{sys.version_info.minor}-venv"])
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", folder], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        said = (made.stderr or made.stdout).strip().splitlines()[-1]
        raise Problem(
            f"No virtual environment could be made: {said}", hint="Check that .venv can be written, then run it again."
        )


def make_log_store(root: Path) -> None:
    """Compile the log store with the new environment; it says itself what it lacks."""
    made = subprocess.run([root / ".venv/bin/python", "-m", "tools.logstore"], cwd=root, check=False)
    if made.returncode != 0:
        raise SystemExit(made.returncode)


def fingerprint(root: Path) -> str:
    """Stand for all that set-up depends on: the pins, the project's table, this Python, this folder."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    parts = (project["project"], project["build-system"], (root / "constraints.txt").read_text(encoding="utf-8"))
    return hashlib.sha256(repr((parts, sys.version, sys.base_prefix, str(root))).encode()).hexdigest()


def is_ready(stamp: Path, wanted: str) -> bool:
    """Say whether the last set-up that finished was the wanted one."""
    return stamp.exists() and stamp.read_text(encoding="utf-8") == wanted


def cache() -> Path:
    """Find the folder that outlives this clone."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "deltaworks"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one set-up at a time work with the cache; a killed one leaves no lock behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        os.set_inheritable(file.fileno(), True)  # what set-up started keeps the lock too
        _wait_for(file)
        yield


def _wait_for(file: TextIO) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("Another set-up is at work on this machine; waiting for it …", flush=True)
        fcntl.flock(file, fcntl.LOCK_EX)


if __name__ == "__main__":
    reporting(main)
