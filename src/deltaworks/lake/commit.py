"""What every commit of ours says about itself: the public format of `commitInfo.userMetadata`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaworks.lake.table import Table

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Mark:
    """Delta's own idempotence marker, the `txn` action: an application and how far it got."""

    app_id: str
    version: int


def incremental_app_id(pipeline: str) -> str:
    """The application id of a pipeline's incremental runs; its versions are the numbers of their batches."""
    return f"deltaworks/{pipeline}"


def incremental_pipeline(app_id: str) -> str | None:
    """The pipeline whose incremental runs have this application id; none where it is another kind of id."""
    _, ours, pipeline = app_id.partition("deltaworks/")
    return pipeline if ours and pipeline and not {"#", "/"} & set(pipeline) else None


def keyed_app_id(pipeline: str, key: str) -> str:
    """The application id of a keyed run, one per key, so that keys never block each other."""
    return f"deltaworks/{pipeline}#{key}"


def aside_app_id(mark: Mark) -> str:
    """The application id of what a load leaves beside its table; of a keyed one, each landing has its own."""
    pipeline, keyed, key = mark.app_id.partition("#")
    return f"{pipeline}/aside/{mark.version}#{key}" if keyed else f"{pipeline}/aside"


def who(run_id: str, user: str | None, host: str | None) -> str:
    """Who made a commit, as people read it."""
    return f"run {run_id} ({user}@{host})" if user and host else f"run {run_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How far a source was read, and which source it was."""

    source: str
    start: Any = None
    end: Any = None

    def to_dict(self) -> dict[str, Any]:
        """Spell it as the commit does."""
        return {"source": self.source, "from": self.start, "to": self.end}


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit to be made: who makes it, why, and the mark that lets it land only once."""

    run_id: str
    pipeline: str | None = None
    batch: int | None = None
    position: Position | None = None
    key: str | None = None
    attempt: int = 1
    schema: str | None = None
    user: str | None = None
    host: str | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)  # what was read of the other inputs, by name
    why: str | None = None  # for a commit that only moves a position: who asked for it says
    adopts: str | None = None  # the pipeline whose place this one takes
    table: str | None = None  # the identity of the table on which a batch was decided; none where it may be any
    mark: Mark | None = None  # travels as the txn action, not in the metadata
    seen: int = -1  # the table's version when this was decided; what we look for lies after it, and a RESTORE too

    @property
    def said(self) -> str:
        """What it is, as people read it."""
        return f"Batch {self.batch}" if self.batch is not None else f"The key {self.key!r}" if self.key else "The load"

    @property
    def by(self) -> str:
        """Who makes it, as people read it."""
        return who(self.run_id, self.user, self.host)

    @property
    def anew(self) -> bool:
        """Whether it is all there is, in the place of all that had landed before."""
        return self.position is not None and self.position.start is None and self.why is None

    @property
    def goes_on(self) -> bool:
        """Whether it is a batch that needs the rows of those before it; who moves a position has seen to them."""
        return self.position is not None and self.position.start is not None and self.why is None

    def again(self) -> Commit:
        """The same commit, tried once more."""
        return replace(self, attempt=self.attempt + 1)

    def aside(self, table: Table | None) -> Commit:
        """The commit of the rows this one leaves in a table beside its own: the same run, with a mark of its own.

        Tries of one key or one batch may find different rows, so that each has its own number.
        """
        seen = table.version if table else -1
        if self.mark is None:
            return replace(self, seen=seen, attempt=1, table=None)
        app_id = aside_app_id(self.mark)
        tries = (table.mark(app_id) or 0) if table else 0
        return replace(self, mark=Mark(app_id, tries + 1), seen=seen, attempt=1, table=None)

    def to_json(self) -> str:
        """Spell it as one line, the same from every engine."""
        fields = {
            "deltaworks": FORMAT,
            "pipeline": self.pipeline,
            "run": self.run_id,
            "batch": self.batch,
            "position": self.position.to_dict() if self.position else None,
            "key": self.key,
            "attempt": self.attempt,
            "schema": self.schema,
            "user": self.user,
            "host": self.host,
            "seen": self.seen,
        }
        fields |= {"inputs": dict(self.inputs)} if self.inputs else {}
        fields |= {"why": self.why} if self.why else {}
        fields |= {"adopts": self.adopts} if self.adopts else {}
        fields |= {"table": self.table} if self.table else {}
        return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)


def parsed(metadata: str | None) -> Commit | None:
    """Read a commit's `userMetadata`; none when it is not ours."""
    fields = _ours(metadata)
    if fields is None:
        return None
    return Commit(
        run_id=fields["run"],
        pipeline=fields.get("pipeline"),
        batch=fields.get("batch"),
        position=_position(fields.get("position")),
        key=fields.get("key"),
        attempt=fields.get("attempt", 1),
        schema=fields.get("schema"),
        user=fields.get("user"),
        host=fields.get("host"),
        inputs=fields.get("inputs") or {},
        why=fields.get("why"),
        adopts=fields.get("adopts"),
        table=fields.get("table"),
        seen=fields.get("seen", -1),
    )


def _position(found: Any) -> Position | None:
    if not isinstance(found, dict) or "source" not in found:
        return None
    return Position(source=found["source"], start=found.get("from"), end=found.get("to"))


def _ours(metadata: str | None) -> dict[str, Any] | None:
    try:
        fields = json.loads(metadata or "null")
    except (ValueError, RecursionError):  # anybody may have written it
        return None
    return fields if isinstance(fields, dict) and "deltaworks" in fields and "run" in fields else None
