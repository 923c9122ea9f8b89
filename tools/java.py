"""The one thing set-up cannot install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from tools.problem import Problem

HINT = "Install one, for example with `sudo apt-get install -y openjdk-17-jre-headless`, or point JAVA_HOME at one."


def require_java(oldest: int = 17) -> None:
    """Stop early where Spark could not start later."""
    java = _java()
    if shutil.which(java) is None:
        raise Problem(f"Java {oldest} or later is needed, and `{java}` is not there.", hint=HINT)
    version = _version(java)
    if version < oldest:
        raise Problem(
            f"Java {oldest} or later is needed; `{java}` is Java {version or 'of unknown version'}.", hint=HINT
        )


def _java() -> str:
    # The order Spark's own launcher uses.
    home = os.environ.get("JAVA_HOME")
    return f"{home}/bin/java" if home else "java"


def _version(java: str) -> int:
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(?:1\.)?(\d+)', said.stderr + said.stdout)
    return int(found[1]) if found else 0
