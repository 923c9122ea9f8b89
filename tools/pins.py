"""Write constraints.txt anew: the newest versions that fit together, for every dependency."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

from tools.setup import ROOT

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "# Every package of the development environment, pinned. `make pins` writes it anew.\n"
# These three fit together and move together, on purpose, never by a refresh.
HELD = ("pyspark==4.1.1", "delta-spark==4.4.0", "deltalake==1.6.6")
# What builds PySpark's wheel.
BUILD = ("setuptools", "wheel")


def main() -> None:
    """Resolve the project's dependencies and keep what was chosen."""
    report = resolved([*dependencies(ROOT / "pyproject.toml"), *HELD, *BUILD])
    (ROOT / "constraints.txt").write_text(HEADER + "".join(f"{pin}\n" for pin in pins(report)), encoding="utf-8")


def dependencies(pyproject: Path) -> list[str]:
    """List what the project and its extras ask for."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *(name for extra in project["optional-dependencies"].values() for name in extra)]


def resolved(requirements: list[str]) -> dict[str, Any]:
    """Ask pip what it would install into an empty environment."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
    said = subprocess.run([*command, *requirements], stdout=subprocess.PIPE, check=True)
    report: dict[str, Any] = json.loads(said.stdout)
    return report


def pins(report: dict[str, Any]) -> list[str]:
    """Spell pip's choice as sorted pins."""
    chosen = (package["metadata"] for package in report["install"])
    return sorted(f"{re.sub(r'[-_.]+', '-', found['name']).lower()}=={found['version']}" for found in chosen)


if __name__ == "__main__":
    main()
