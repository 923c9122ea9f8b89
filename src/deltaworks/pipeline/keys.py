"""Keyed loads: the same key lands once."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from deltaworks.errors import ConfigError
from deltaworks.lake.commit import Commit
from deltaworks.runs.process import Process, user_name
from deltaworks.runs.result import LoadResult

if TYPE_CHECKING:
    from deltaworks.spark.sinks import Sink


LONGEST = 256  # characters


def commit_for(
    sink: Sink, *, run_id: str, pipeline: str | None, key: str | None, again: bool = False
) -> tuple[Commit, LoadResult | None]:
    """Decide the commit of a load, and whether its key has landed already."""
    table = sink.target()
    seen = table.version if table else -1
    commit = Commit(run_id=run_id, pipeline=pipeline, key=key, user=user_name(), host=Process.current().host, seen=seen)
    if key is None or pipeline is None:
        return commit, None
    _check_text(key)
    found = sink.mark_for(pipeline, key, again=again)
    landed = LoadResult.landed_before(*found.landed) if found.landed else None
    return replace(commit, mark=found.mark), landed


def shortened(key: str) -> str:
    """A key that nobody chose, no longer than keys may be: its beginning, and a hash of all of it."""
    digest = hashlib.sha256(key.encode(errors="backslashreplace")).hexdigest()
    return key if len(key) <= LONGEST else f"{key[: LONGEST - len(digest) - 1]}…{digest}"


def _check_text(key: str) -> None:
    if not key or key != key.strip() or len(key) > LONGEST or not key.isprintable():
        raise ConfigError(
            f"A key is 1 to {LONGEST} printable characters, without blanks around them.",
            hint="Use a date or a batch name.",
        )
