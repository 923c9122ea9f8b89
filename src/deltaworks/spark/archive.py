"""The class-data archive: Spark's classes as the JVM keeps them, so that it starts in half the time.

A hint, never a need: one that is missing, stale or damaged costs the time it would have saved and nothing else.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
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
    """The archive for one Java and one class path, there or not: a folder that appears and goes as a whole."""

    folder: Path

    @property
    def path(self) -> Path:
        """The file that the JVM reads."""
        return self.folder / "classes.jsa"

    def ready(self) -> bool:
        """Say whether the archive can be used; one that changed since it was made is deleted."""
        if not self.folder.exists():
            return False
        note = self.folder / "note.json"
        try:
            fits = json.loads(note.read_text(encoding="utf-8")) == _state(self.path)
        except (OSError, ValueError):
            fits = False
        if not fits:
            self.delete()
            return False
        with suppress(OSError):  # a shared cache may be read-only
            note.touch()
        return True

    def options(self) -> tuple[str, ...]:
        """Spell the archive for the JVM, which passes over one that does not fit."""
        return (f"-XX:SharedArchiveFile={self.path}", "-Xshare:auto") if self.ready() else ()

    def keep(self, draft: Path) -> None:
        """Put a finished archive in place, with a note of its size so that a later change shows."""
        (draft.parent / "note.json").write_text(json.dumps(_state(draft)), encoding="utf-8")
        self.delete()
        draft.parent.rename(self.folder)

    def delete(self) -> None:
        """Forget the archive."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def making(self) -> Iterator[Path | None]:
        """Hand out a draft's name, or `None` where another process is making this archive."""
        draft = self.folder.with_suffix(".draft")
        with self._lock() as ours:
            if not ours:
                yield None
                return
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir()
            try:
                yield draft / self.path.name
            finally:
                shutil.rmtree(draft, ignore_errors=True)

    def wanted(self) -> bool:
        """Say whether the archive is missing and nobody is making it."""
        if self.folder.exists():
            return False
        with self._lock() as ours:
            return ours

    @contextmanager
    def _lock(self) -> Iterator[bool]:
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with self.folder.with_suffix(".lock").open("w") as lock:
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
    return Archive(folder=cache / "classes" / key)


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
    for note in folder.glob("*/note.json"):
        if note.stat().st_mtime < oldest:
            Archive(folder=note.parent).delete()


def _state(path: Path) -> list[int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]
