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


@dataclass(frozen=True)
class Wheelhouse:
    """The wheels of one user, and the pip of one virtual environment that works with them."""

    folder: Path
    python: Path
    log: Path

    def install(self, pins: Path) -> None:
        """Install every pinned package, fetching first what is not here."""
        if self._installed(pins):
            return
        self._fetch(pins)
        if not self._installed(pins):
            raise Problem("The fetched packages do not install.", hint=f"What pip said is in {self.log}.")

    def install_project(self, root: Path) -> None:
        """Install the project itself, editable, with the build backend that is already there."""
        if not self._pip("install", "--no-index", "--no-deps", "--no-build-isolation", "--editable", root):
            raise Problem("The project itself does not install.", hint=f"What pip said is in {self.log}.")

    def _installed(self, pins: Path) -> bool:
        # The pins are complete, so nothing is resolved; bytecode comes with the first import.
        where = ("--no-index", "--find-links", self.folder, "--no-deps", "--no-compile")
        return self._pip("install", *where, "--requirement", pins)

    def _fetch(self, pins: Path) -> None:
        scratch = self._empty_scratch()
        drop_damaged(self.folder)
        # pip's own cache would keep PySpark, half a gigabyte, a second time.
        where = ("--no-cache-dir", "--no-deps", "--find-links", self.folder, "--wheel-dir", scratch / "wheels")
        with showing(lambda: progress(pins, self.log)):
            fetched = self._pip("wheel", *where, "--requirement", pins, **building(pins, scratch / "tmp"))
        if not fetched:
            raise unfetched(self.log)
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
        command = [str(self.python), "-m", "pip", "--disable-pip-version-check", "--no-input", *map(str, arguments)]
        with self.log.open("a", encoding="utf-8") as log:
            # Open files are passed on, so that pip keeps the lock should set-up be killed.
            done = subprocess.run(
                command, stdout=log, stderr=log, env={**os.environ, **variables}, close_fds=False, check=False
            )
        return done.returncode == 0


def building(pins: Path, scratch: Path) -> dict[str, str]:
    """Say which variables make pip build with pinned tools, in a scratch folder."""
    return {"TMPDIR": str(scratch), "PIP_CONSTRAINT": str(pins), "PIP_BUILD_CONSTRAINT": str(pins)}


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


def unfetched(log: Path) -> Problem:
    """Tell a missing network from any other reason."""
    said = log.read_text(encoding="utf-8", errors="replace")
    if "connection broken by" in said:
        what = "The pinned packages are not in the cache yet, and the package index cannot be reached."
    else:
        what = "The pinned packages could not be fetched or built."
    return Problem(what, hint=f"Check the network and pip's settings, then run it again; what pip said is in {log}.")
