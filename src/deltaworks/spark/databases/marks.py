"""How far loads into a database have got: one small table there, written in the transaction of the rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deltaworks.errors import DeltaworksError
from deltaworks.lake.positions import Landing
from deltaworks.spark.databases.base import Relation

if TYPE_CHECKING:
    from deltaworks.lake.commit import Commit
    from deltaworks.spark.databases.base import Session

TABLE = "deltaworks_positions"
_COLUMNS = (
    "app_id {app} NOT NULL, target {target} NOT NULL, version bigint NOT NULL, run_id varchar(64) NOT NULL, "
    "pipeline varchar(128), position text, landed_at varchar(40) NOT NULL, PRIMARY KEY (app_id, target)"
)
_LONGEST = {"app": 420, "target": 130}  # signs


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """How far one application has got, and the run that got there."""

    version: int
    run_id: str
    position: Any = None


class Marks:
    """The marks that a database keeps in one of its schemas for one of its tables."""

    def __init__(self, session: Session, schema: str | None, target: str) -> None:
        self._session, self._target = session, target
        self._relation = Relation(table=TABLE, schema=schema)
        self._table = session.database.spelled(self._relation)
        self._named = self._table.replace("%", "%%")  # in a statement that takes values

    def reached(self, app_id: str) -> Reached | None:
        """How far an application has got; none where it has never landed anything."""
        if not self._session.database.exists(self._session, self._relation):
            return None
        return self._read(app_id, "")

    def prepare(self) -> None:
        """Make the table, where it is not there."""
        try:
            exact = self._session.database.exact_text
            columns = _COLUMNS.format(**{name: exact.format(signs) for name, signs in _LONGEST.items()})
            self._session.run(f"CREATE TABLE IF NOT EXISTS {self._table} ({columns}){self._session.database.keeper}")
        except DeltaworksError:
            # Two may make it at once, and one of them fails.
            if not self._session.database.exists(self._session, self._relation):
                raise

    def take(self, commit: Commit, landed_at: str) -> Landing:
        """In a transaction: put a commit's mark down, unless it is there; others who try wait until this one ends."""
        assert commit.mark is not None
        mark, session = commit.mark, self._session
        once = session.database.insert_once.format(f"{self._named} VALUES (%s, %s, -1, '', NULL, NULL, '')")
        session.run(once, mark.app_id, self._target)
        there = self._read(mark.app_id, "FOR UPDATE")
        assert there is not None
        if there.version >= mark.version:
            return Landing.OURS if there.run_id == commit.run_id else Landing.TAKEN
        position = json.dumps(commit.position.to_dict()) if commit.position else None
        session.run(
            f"UPDATE {self._named} SET version = %s, run_id = %s, pipeline = %s, position = %s, landed_at = %s "
            "WHERE app_id = %s AND target = %s",
            *(mark.version, commit.run_id, commit.pipeline, position, landed_at, mark.app_id, self._target),
        )
        return Landing.ABSENT

    def _read(self, app_id: str, how: str) -> Reached | None:
        found = self._session.rows(
            f"SELECT version, run_id, position FROM {self._named} WHERE app_id = %s AND target = %s {how}",
            app_id,
            self._target,
        )
        return next((_reached(*row) for row in found), None)


def _reached(version: int, run_id: str, position: str | None) -> Reached:
    return Reached(version=int(version), run_id=run_id, position=json.loads(position) if position else None)
