"""The Java that runs Spark: the one thing Deltaworks cannot install."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from deltaworks.errors import SetupError

# Hadoop 3.4, inside Spark, asks for its user in a way that Java 23 took out.
OLDEST, NEWEST = 17, 22
INSTALL = (
    f"Install Java {OLDEST} or newer, up to {NEWEST} (Debian and Ubuntu: `apt install openjdk-{OLDEST}-jre-headless`, "
    f"macOS: `brew install openjdk@{OLDEST}`) and put it on the PATH or in JAVA_HOME."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """A Java that Spark runs on, and what tells it from every other Java."""

    path: Path
    version: int
    release: str


def find_java(java_home: str | None = None, *, search_path: str | None = None) -> Java:
    """Find Java in `java_home`, else on the path; refuse one that Spark cannot run on."""
    path = _program(java_home, search_path)
    release = _release_file(path) or _asked(path)
    version = _major(release)
    if version is None:
        raise SetupError(f"{path} does not say which Java it is.", hint=INSTALL)
    if not OLDEST <= version <= NEWEST:
        raise SetupError(f"{path} is Java {version}; Spark needs {OLDEST} to {NEWEST}.", hint=INSTALL)
    return Java(path=path, version=version, release=release)


def _program(java_home: str | None, search_path: str | None) -> Path:
    if java_home:
        path = Path(java_home, "bin", "java")
        if not path.is_file():
            raise SetupError(f"There is no Java in JAVA_HOME: {path} is missing.", hint=INSTALL)
        return path
    found = shutil.which("java", path=search_path)
    if found is None:
        raise SetupError("Java was not found.", hint=INSTALL)
    return Path(found)


def _release_file(path: Path) -> str | None:
    # Every JDK since 8 states its version there; reading it saves starting a JVM only to ask.
    try:
        text = (path.resolve().parent.parent / "release").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return text if _major(text) else None


def _asked(path: Path) -> str:
    try:
        answer = subprocess.run([path, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"{path} could not be started: {error}.", hint=INSTALL) from error
    return answer.stderr + answer.stdout


def _major(text: str) -> int | None:
    found = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', text)
    return int(found[1]) if found else None
