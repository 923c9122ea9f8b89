"""System packages: which are missing, and installing them where that is allowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.problem import Problem, reporting

APT = ["apt-get", "install", "-y", "--no-install-recommends"]


def main() -> None:
    """Make sure that the commands listed in the given file are on this machine."""
    wanted = read_list(Path(sys.argv[1]))
    install(sorted({package for command, package in wanted if not present(command)}))


def read_list(path: Path) -> list[tuple[str, str]]:
    """Read lines of `command package`; a command with a slash is a path, `*` allowed."""
    lines = (line.partition("#")[0].split() for line in path.read_text(encoding="utf-8").splitlines())
    return [(command, package) for command, package in filter(None, lines)]


def present(command: str) -> bool:
    """Say whether a command can be run here."""
    if "/" in command:
        return any(Path("/").glob(command.lstrip("/")))
    return shutil.which(command) is not None


def install(packages: list[str]) -> None:
    """Install Debian packages as root; anyone else is told the command."""
    if not packages:
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise Problem(f"Missing here: {', '.join(packages)}.", hint=f"Run `sudo {' '.join([*APT, *packages])}`.")
    print(f"Installing {', '.join(packages)} …", flush=True)
    _apt(["apt-get", "update"], packages)
    _apt([*APT, *packages], packages)


def _apt(command: list[str], packages: list[str]) -> None:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run([*command, "-qq"], env=quiet, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise Problem(
            f"`{' '.join(command)}` failed: {said}",
            hint=f"Check the network and apt's sources, or install them yourself: {', '.join(packages)}.",
        )


if __name__ == "__main__":
    reporting(main)
