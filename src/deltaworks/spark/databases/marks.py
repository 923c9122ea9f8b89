"""How far loads into a database have got: one small table there, written in the transaction of the rows."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from deltaworks.errors import DeltaworksError, RefusedError
from deltaworks.lake.commit import Mark, Position, incremental_app_id, incremental_pipeline
from deltaworks.lake.positions import Reached, RecreatedError
from deltaworks.spark.databases.base import Relation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltaworks.lake.commit import Commit
    from deltaworks.spark.databases.base import Session

TABLE = "deltaworks_positions"
_COLUMNS = (
    "app_id {app} NOT NULL, target {target} NOT NULL, version bigint NOT NULL, run_id varchar(64) NOT NULL, "
    "pipeline varchar(128), position {long}, landed_at varchar(40) NOT NULL, PRIMARY KEY (app_id, target)"
)
_LONGEST = {"app": 420, "target": 130}  # signs
_TOLD = ("user", "host", "table_id", "why", "adopted_by")


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """A mark as the database holds it, and the run that put it there."""

    version: int
    run_id: str
    landed_at: str
    said: dict[str, Any]  # what its table was; of an incremental load also where it ended, and who it was

    @property
    def table_id(self) -> str:
        """What its table was; nothing where that was not noted."""
        return str(self.said.get("table_id", ""))

    def reached(self) -> Reached | None:
        """How far a pipeline got with it; none of a load that had no position."""
        if "source" not in self.said:
            return None
        return Reached(
            batch=self.version,
            position=Position(source=self.said["source"], start=self.said["from"], end=self.said["to"]),
            run_id=self.run_id,
            at=int(datetime.fromisoformat(self.landed_at).timestamp() * 1000),
            **{name: self.said[name] for name in _TOLD if name in self.said},
        )


class Marks:
    """The marks that a database keeps in one of its schemas for one of its tables, which people know by its place."""

    def __init__(self, session: Session, schema: str | None, target: str, place: str) -> None:
        self._session, self._target, self._place = session, target, place
        self._relation = Relation(table=TABLE, schema=schema)
        self._table = session.database.spelled(self._relation)
        self._named = self._table.replace("%", "%%")  # in a statement that takes values

    def found(self, app_id: str) -> Put | None:
        """The mark of an application; none where it has never landed anything. Refuses to miss one elsewhere."""
        there = self._session.database.exists(self._session, self._relation)
        found = self._read(app_id, "") if there else None
        if found is None:
            self._refuse_elsewhere(app_id)
        return found

    def _refuse_elsewhere(self, app_id: str) -> None:
        """Refuse where another schema has the mark: whoever names another one would begin anew without a word."""
        in_full = partial(self._session.database.in_full, self._session)
        named = f"SELECT table_schema FROM information_schema.tables WHERE table_name = '{TABLE}'"
        for (schema,) in self._session.rows(named):
            other = Marks(self._session, schema, self._target, self._place)
            if in_full(other._relation) != in_full(self._relation) and other._holds(app_id):
                raise MarksElsewhereError(self._place, in_full(other._relation), in_full(self._relation), schema)

    def _holds(self, app_id: str) -> bool:
        with suppress(DeltaworksError):  # not every user may look into every schema
            return self._read(app_id, "") is not None
        return False

    def reached(self, pipeline: str) -> Reached | None:
        """How far a pipeline got; none where it has not begun."""
        there = self.found(incremental_app_id(pipeline))
        return there.reached() if there else None

    def others(self, pipeline: str, source: str) -> Iterator[str]:
        """Other pipelines that hold a position of the same source in this table."""
        if not self._session.database.exists(self._session, self._relation):
            return
        rows = self._session.rows(f"SELECT app_id FROM {self._named} WHERE target = %s", self._target)
        for other in sorted(filter(None, (incremental_pipeline(str(app_id)) for (app_id,) in rows))):
            held = None if other == pipeline else self.reached(other)
            if held is not None and held.adopted_by is None and held.position.source == source:
                yield other

    def prepare(self) -> None:
        """Make the table, where it is not there."""
        try:
            database = self._session.database
            columns = {name: database.exact_text.format(signs) for name, signs in _LONGEST.items()}
            made = _COLUMNS.format(**columns, long=database.long_text)
            self._session.run(f"CREATE TABLE IF NOT EXISTS {self._table} ({made}){database.keeper}")
        except DeltaworksError:
            # Two may make it at once, and one of them fails.
            if not self._session.database.exists(self._session, self._relation):
                raise

    def take(self, commit: Commit, landed_at: str, table_id: str, *, made: bool = False) -> Put | None:
        """In a transaction: put a commit's mark down; others who try wait until this one ends.

        What is there instead, where another was faster: a batch needs the one before it to be the last that landed.
        One that goes on needs its table, too: refuses one that was made since, by this load or by somebody else.
        """
        assert commit.mark is not None
        there = self._locked(commit.mark.app_id)
        if there.version >= commit.mark.version:
            return there
        if commit.position is not None and max(there.version, 0) != commit.mark.version - 1:
            return there
        if commit.goes_on and there.table_id and (made or there.table_id != table_id):
            raise RecreatedError(self._place, commit.pipeline or "", there.version)
        self._put(commit.mark, commit, landed_at, _said(commit, table_id))
        return None

    def give_up(self, commit: Commit, landed_at: str, table_id: str) -> bool:
        """In a transaction: say of the pipeline that a commit adopts that another goes on in its place.

        Not if it got further since that was decided: what it landed would land again.
        """
        assert commit.adopts is not None
        assert commit.position is not None
        app_id = incremental_app_id(commit.adopts)
        there = self._locked(app_id)
        if there.said.get("to") != commit.position.end:
            return False
        self._put(
            Mark(app_id, there.version + 1),
            *(commit, landed_at, _said(commit, table_id) | {"adopted_by": commit.pipeline}),
        )
        return True

    def _locked(self, app_id: str) -> Put:
        once = self._session.database.insert_once.format(f"{self._named} VALUES (%s, %s, -1, '', NULL, NULL, '')")
        self._session.run(once, app_id, self._target)
        there = self._read(app_id, "FOR UPDATE")
        assert there is not None
        return there

    def _put(self, mark: Mark, commit: Commit, landed_at: str, said: dict[str, Any]) -> None:
        self._session.run(
            f"UPDATE {self._named} SET version = %s, run_id = %s, pipeline = %s, position = %s, landed_at = %s "
            "WHERE app_id = %s AND target = %s",
            *(mark.version, commit.run_id, commit.pipeline, json.dumps(said), landed_at),
            *(mark.app_id, self._target),
        )

    def _read(self, app_id: str, how: str) -> Put | None:
        found = self._session.rows(
            f"SELECT version, run_id, landed_at, position FROM {self._named} WHERE app_id = %s AND target = %s {how}",
            app_id,
            self._target,
        )
        return next((_put(*row) for row in found), None)


class MarksElsewhereError(RefusedError):
    """How far loads into a table have got is kept in another schema than the file names now."""

    def __init__(self, place: str, found: str, looked_for: str, schema: str) -> None:
        super().__init__(
            f"How far this got in {place} is kept in {found}, and the file means {looked_for} now: all would land "
            "again.",
            hint=f"Write stagingSchema: {schema} under load.connectionParams; or copy the rows for this table from "
            "there.",
        )


def _said(commit: Commit, table_id: str) -> dict[str, Any]:
    if commit.position is None:
        return {"table_id": table_id}
    own = {"user": commit.user, "host": commit.host, "why": commit.why, "table_id": table_id}
    return {**commit.position.to_dict(), **{name: value for name, value in own.items() if value}}


def _put(version: int, run_id: str, landed_at: str, said: str | None) -> Put:
    return Put(version=int(version), run_id=run_id, landed_at=landed_at, said=json.loads(said) if said else {})
