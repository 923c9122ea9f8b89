"""Pinned packages, kept as wheels in the user's cache: fetched once, installed from there without a network.

Only whole wheels ever stand in the wheelhouse: they are made in a scratch folder beside it and renamed in.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.problem import Problem
from tools.progress import bar, showing

if TYPE_CHECKING:
    from pathlib import Path


PINS = "constraints.txt"


@dataclass(frozen=True)
class Wheelhouse:
    """The wheels of one user, and the virtual environment of one clone that is filled from them."""

    folder: Path
    clone: Path

    @property
    def log(self) -> Path:
        """Where all that pip said is kept."""
        return self.clone / ".venv/setup.log"

    def install(self) -> None:
        """Install every pinned package, fetching first what is not here, then the project itself."""
        if not self._install_pins():
            self._fetch()
            self._require(
                self._install_pins(),
                "The fetched packages do not install.",
                "Check the free disk space, then run it again.",
            )
        project = self._pip("install", "--no-index", "--no-deps", "--no-build-isolation", "--editable", ".")
        self._require(project, "The project itself does not install.", "Check what pyproject.toml names.")

    def _install_pins(self) -> bool:
        # The pins are complete, so nothing is resolved; bytecode comes with the first import.
        where = ("--no-index", "--find-links", self.folder, "--no-deps")
        return self._pip("install", *where, "--requirement", PINS)

    def _fetch(self) -> None:
        scratch = self._empty_scratch()
        drop_damaged(self.folder)
        # pip's own cache would keep PySpark, half a gigabyte, a second time.
        where = ("--no-cache-dir", "--no-deps", "--find-links", self.folder, "--wheel-dir", scratch / "wheels")
        with showing(lambda: progress(self.clone / PINS, self.log)):
            fetched = self._pip("wheel", *where, "--requirement", PINS, **building(scratch / "tmp"))
        self._require(fetched, reason(self.log), "Check the network and pip's settings, then run it again.")
        for wheel in (scratch / "wheels").iterdir():
            wheel.replace(self.folder / wheel.name)
        shutil.rmtree(scratch)

    def _empty_scratch(self) -> Path:
        # Set-up holds a lock, so whatever lies there belongs to one that was killed.
        scratch = self.folder.with_name("wheels.part")
        shutil.rmtree(scratch, ignore_errors=True)
        (scratch / "tmp").mkdir(parents=True)
        return scratch

    def _pip(self, *arguments: str | Path, **variables: str) -> bool:
        command = [
            self.clone / ".venv/bin/python",
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--no-input",
            *arguments,
        ]
        environment = {**os.environ, **variables}
        with self.log.open("a", encoding="utf-8") as log:
            # Open files are passed on, so that pip keeps the lock should set-up be killed.
            done = subprocess.run(
                command, cwd=self.clone, env=environment, stdout=log, stderr=log, close_fds=False, check=False
            )
        return done.returncode == 0

    def _require(self, done: bool, otherwise: str, advice: str) -> None:
        if not done:
            raise Problem(otherwise, hint=f"{advice} What pip said is in {self.log}.")


def building(scratch: Path) -> dict[str, str]:
    """Say which variables make pip build with pinned tools, in a scratch folder."""
    # A name alone, not a path: pip splits these variables at spaces.
    return {"TMPDIR": str(scratch), "PIP_CONSTRAINT": PINS, "PIP_BUILD_CONSTRAINT": PINS}


def drop_damaged(folder: Path) -> None:
    """Remove wheels that are not whole, so that they are fetched again."""
    for wheel in folder.glob("*.whl"):
        if not zipfile.is_zipfile(wheel):
            wheel.unlink()


def progress(pins: Path, log: Path) -> str:
    """Say how far pip has come, from what it wrote to the log."""
    total = sum("==" in line for line in pins.read_text(encoding="utf-8").splitlines())
    steps = re.findall(
        r"^(?:Collecting|Building wheels for collected packages:) \S+", log.read_text("utf-8"), re.MULTILINE
    )
    started = sum(step.startswith("Collecting") for step in steps)
    return f"Fetching packages {bar(started, total)} {steps[-1].split()[-1] if steps else ''}"


def reason(log: Path) -> str:
    """Tell a missing network from any other reason for fetching nothing."""
    if "connection broken by" in log.read_text(encoding="utf-8", errors="replace"):
        return "The package index cannot be reached, and the packages are not in the cache yet."
    return "The pinned packages could not be fetched or built."
