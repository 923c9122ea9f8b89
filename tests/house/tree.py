"""The files of this project, for the rules about them."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src/deltaworks"


def tracked() -> list[Path]:
    """List what is committed or about to be, not what happens to lie around."""
    # A container often runs as another user than the one who cloned; git would refuse to look.
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for name in listed.split("\0") if (path := ROOT / name).is_file()]


def sources() -> list[Path]:
    """List the modules of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def named(path: Path) -> str:
    """Name a file the way a reader would look it up."""
    return path.relative_to(ROOT).as_posix()
