"""Ivy as a program: fetch exactly the named jars, without starting Spark."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from deltaworks.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

# One resolver without a root: no host is named here, and ~/.m2 (where a POM can lie without its jar) is not asked.
# POMs would only tell what we already know, and cost more time than the jars.
SETTINGS = """\
<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true" usepoms="false"/></resolvers>
</ivysettings>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinate:
    """One jar as Maven names it."""

    group: str
    artifact: str
    version: str
    classifier: str = ""

    @property
    def file_name(self) -> str:
        """The name of its file in a flat folder."""
        return f"{'-'.join(filter(None, (self.artifact, self.version, self.classifier)))}.jar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """What one run of Ivy needs: its program, its rules, and a folder that is thrown away afterwards."""

    java: Path
    ivy: Path
    settings: Path | None
    scratch: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class JarProgress:
    """How far a fetch has come, and the jar it is at."""

    done: int
    total: int
    name: str


def ivy_xml(coordinates: Iterable[Coordinate]) -> str:
    """Spell the coordinates as an Ivy file that asks for these jars and nothing they name."""
    rows = "\n".join(
        f"    <dependency org={quoteattr(c.group)} name={quoteattr(c.artifact)} rev={quoteattr(c.version)}"
        f' transitive="false" conf="jars->default">{_classified(c)}</dependency>'
        for c in coordinates
    )
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">\n'
        '  <info organisation="deltaworks" module="jars"/>\n'
        '  <configurations><conf name="jars"/></configurations>\n'
        f"  <dependencies>\n{rows}\n  </dependencies>\n</ivy-module>\n"
    )


def _classified(jar: Coordinate) -> str:
    if not jar.classifier:
        return ""
    return f'<artifact name={quoteattr(jar.artifact)} type="jar" m:classifier={quoteattr(jar.classifier)}/>'


def fetch(coordinates: tuple[Coordinate, ...], how: Fetch, progress: Callable[[JarProgress], None]) -> Path:
    """Fetch the jars into a folder under `how.scratch` and return it."""
    folder = how.scratch / "jars"
    lines: list[str] = []
    with subprocess.Popen(
        _command(coordinates, how, folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as ivy:
        assert ivy.stdout is not None
        report = _Report(len(coordinates), progress)
        for line in ivy.stdout:
            lines.append(line)
            report.hear(line)
    if ivy.returncode or not all((folder / c.file_name).is_file() for c in coordinates):
        raise _failed(coordinates, lines, how.settings)
    return folder


def _command(coordinates: tuple[Coordinate, ...], how: Fetch, folder: Path) -> list[str]:
    cache, wanted, settings = how.scratch / "cache", how.scratch / "ivy.xml", how.scratch / "ivysettings.xml"
    cache.mkdir()
    wanted.write_text(ivy_xml(coordinates), encoding="utf-8")
    settings.write_text(SETTINGS, encoding="utf-8")
    program = [str(how.java), f"-Divy.default.ivy.user.dir={how.scratch}", "-jar", str(how.ivy), "-cache", str(cache)]
    rules = ["-settings", str(how.settings or settings), "-ivy", str(wanted), "-confs", "jars"]
    return [*program, *rules, "-retrieve", f"{folder}/[artifact]-[revision](-[classifier]).[ext]"]


class _Report:
    """Turns Ivy's lines into progress."""

    def __init__(self, total: int, progress: Callable[[JarProgress], None]) -> None:
        self._total = total
        self._progress = progress
        self._done = 0

    def hear(self, line: str) -> None:
        found = re.match(r"\s*(found |\[SUCCESSFUL \]) ?\S+?#(\S+?);([^!\s]+)", line)
        if found is None:
            return
        self._done += found[1].startswith("[")
        self._progress(JarProgress(done=self._done, total=self._total, name=f"{found[2]}-{found[3]}"))


def _failed(coordinates: tuple[Coordinate, ...], lines: list[str], settings: Path | None) -> SetupError:
    reason = next((line.strip() for line in lines if "Server access error" in line), "")
    reason = reason or next((line.strip() for line in lines if "not found" in line or "rror" in line), "no answer")
    asked = f"with {settings}" if settings else "from Maven Central"
    return SetupError(
        f"{len(coordinates)} jars that Spark needs could not be fetched {asked}: {reason}",
        hint="Connect this machine once and run again, or name a mirror in an Ivy settings file through "
        "DELTAWORKS_IVY_SETTINGS, or copy Deltaworks' cache folder from a machine that has them.",
    )
