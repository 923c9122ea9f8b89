"""The jars a managed session runs with: fetched once, checked always, kept in the user's cache."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shlex
import tempfile
import tomllib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError, SetupError, did_you_mean
from deltaworks.spark.home import ivy_jar
from deltaworks.spark.ivy import Coordinate, Fetch, JarProgress, fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from deltaworks.spark.java import Java

__all__ = ["JarProgress", "JarStore", "ManagedJar", "catalogue", "jars_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedJar(Coordinate):
    """A jar whose content we know beforehand."""

    sha256: str


def catalogue(file: Path | None = None) -> Mapping[str, tuple[ManagedJar, ...]]:
    """Read every jar we may ask for, by connector; or those that another file lists."""
    rows = tomllib.loads((file or Path(__file__).with_name("jars.toml")).read_text(encoding="utf-8"))
    return {name: tuple(_jar(*row) for row in jars.items()) for name, jars in rows.items()}


def _jar(coordinate: str, sha256: str) -> ManagedJar:
    group, artifact, version = coordinate.split(":")
    return ManagedJar(group=group, artifact=artifact, version=version, sha256=sha256)


def jars_of(groups: Iterable[str]) -> tuple[ManagedJar, ...]:
    """List the jars of the connectors, in the catalogue's order, so that a class path has one spelling."""
    known, wanted = catalogue(), set(groups)
    for name in sorted(wanted - known.keys()):
        raise ConfigError(f"No group of jars is named {name!r}.", hint=did_you_mean(name, known))
    return tuple(jar for name, jars in known.items() if name in wanted for jar in jars)


@dataclass(frozen=True, slots=True, kw_only=True)
class JarStore:
    """The folder of jars in the user's cache."""

    folder: Path
    java: Java
    spark_home: Path
    ivy_settings: Path | None = None

    def ensure(
        self, jars: tuple[ManagedJar, ...], progress: Callable[[JarProgress], None] = lambda _: None
    ) -> tuple[Path, ...]:
        """Return the checked files of these jars, fetching first those that are missing.

        A file is only ever renamed into place after its SHA-256 was right, so a killed or a
        second process leaves no half a jar behind.
        """
        if self._missing(jars):
            self.folder.mkdir(parents=True, exist_ok=True)
            with _locked(self.folder / ".lock"):
                self._fetch(self._missing(jars), progress)
        _check(self.folder, jars)
        return tuple(self.folder / jar.file_name for jar in jars)

    def _missing(self, jars: tuple[ManagedJar, ...]) -> tuple[ManagedJar, ...]:
        return tuple(jar for jar in jars if not (self.folder / jar.file_name).is_file())

    def _fetch(self, jars: tuple[ManagedJar, ...], progress: Callable[[JarProgress], None]) -> None:
        if not jars:  # another process was faster
            return
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=".fetch-") as scratch:
            how = Fetch(
                java=self.java.path,
                ivy=ivy_jar(self.spark_home),
                settings=self.ivy_settings,
                scratch=Path(scratch),
            )
            fetched = fetch(jars, how, progress)
            for jar in jars:
                _require_genuine(fetched / jar.file_name, jar)
                (fetched / jar.file_name).replace(self.folder / jar.file_name)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _require_genuine(path: Path, jar: ManagedJar) -> None:
    found = sha256(path)
    if found != jar.sha256:
        raise SetupError(
            f"The repository sent a wrong {jar.file_name}: its SHA-256 should be {jar.sha256}, it is {found}.",
            hint="Nothing was kept. Run again; if it stays wrong, ask whoever runs the mirror or the proxy in between.",
        )


def _check(folder: Path, jars: tuple[ManagedJar, ...]) -> None:
    """Compare each jar with its SHA-256, reading only those that changed since they were found right."""
    notes = folder / "verified.json"
    known = _read_notes(notes)
    now = {jar.file_name: _checked(folder / jar.file_name, jar, known.get(jar.file_name)) for jar in jars}
    if any(known.get(name) != note for name, note in now.items()):
        _save_notes(notes, {**known, **now})


def _checked(path: Path, jar: ManagedJar, note: object) -> list[object]:
    state = path.stat()
    seen: list[object] = [state.st_size, state.st_mtime_ns, jar.sha256]
    if seen != note and (found := sha256(path)) != jar.sha256:
        raise SetupError(
            f"{path} is damaged: its SHA-256 should be {jar.sha256}, it is {found}.",
            hint=f"Delete it and run again: rm {shlex.quote(str(path))}",
        )
    return seen


def _read_notes(path: Path) -> dict[str, object]:
    try:
        notes = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return notes if isinstance(notes, dict) else {}


def _save_notes(path: Path, notes: Mapping[str, object]) -> None:
    # A cache that is shared read-only is checked in full each time instead.
    with suppress(OSError), tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".notes-", delete=False) as draft:
        json.dump(notes, draft)
        draft.flush()
        Path(draft.name).replace(path)


def sha256(path: Path) -> str:
    """Digest a file without holding it in memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
