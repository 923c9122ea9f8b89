"""The class-data archive: Spark's classes as the JVM keeps them, so that it starts in half the time.

A hint, never a need: one that is missing, stale or damaged costs the time it would have saved and nothing else.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from deltaworks.spark.java import Java
    from deltaworks.spark.settings import SparkSettings

UNUSED_FOR = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """The archive for one Java and one class path, there or not."""

    path: Path

    @property
    def _note(self) -> Path:
        return self.path.with_suffix(".json")

    def ready(self) -> bool:
        """Say whether the archive can be used; one that changed since it was made is deleted."""
        try:
            made = json.loads(self._note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            made = None
        if made is not None and made == _state(self.path):
            with suppress(OSError):  # a shared cache may be read-only
                self._note.touch()
            return True
        self.delete()
        return False

    def options(self) -> tuple[str, ...]:
        """Spell the archive for the JVM, which passes over one that does not fit."""
        return (f"-XX:SharedArchiveFile={self.path}", "-Xshare:auto") if self.ready() else ()

    def keep(self, draft: Path) -> None:
        """Put a finished archive in place, and note its size so that a later change shows."""
        draft.replace(self.path)
        note = self._note.with_suffix(".tmp")
        note.write_text(json.dumps(_state(self.path)), encoding="utf-8")
        note.replace(self._note)

    def delete(self) -> None:
        """Forget the archive."""
        with suppress(OSError):
            self._note.unlink(missing_ok=True)
            self.path.unlink(missing_ok=True)

    @contextmanager
    def making(self) -> Iterator[Path | None]:
        """Hand out a draft's name, or `None` where another process is making this archive."""
        draft = self.path.with_suffix(".draft")
        with self._lock() as ours:
            try:
                yield draft if ours else None
            finally:
                if ours:
                    draft.unlink(missing_ok=True)

    def wanted(self) -> bool:
        """Say whether the archive is missing and nobody is making it."""
        if self.path.exists():
            return False
        with self._lock() as ours:
            return ours

    @contextmanager
    def _lock(self) -> Iterator[bool]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_suffix(".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True


def archive_for(cache: Path, java: Java, class_path: tuple[Path, ...]) -> Archive:
    """Name the archive of this Java and these jars; another version of either has another name."""
    facts = [java.release, *(f"{jar}:{_state(jar)}" for jar in class_path)]
    key = hashlib.sha256("\n".join(facts).encode()).hexdigest()[:24]
    return Archive(path=cache / "classes" / f"{key}.jsa")


def make_later(archive: Archive, settings: SparkSettings) -> None:
    """Make the archive in a process of its own that nobody waits for, if it is missing."""
    if not archive.wanted():
        return
    subprocess.Popen(
        [sys.executable, "-m", "deltaworks.spark.training", str(settings.cache), settings.java_home or ""],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def prune(folder: Path) -> None:
    """Delete archives that no session has used for long: each is as large as all jars together."""
    oldest = time.time() - UNUSED_FOR.total_seconds()
    for note in folder.glob("*.json"):
        if note.stat().st_mtime < oldest:
            Archive(path=note.with_suffix(".jsa")).delete()


def _state(path: Path) -> list[int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]
