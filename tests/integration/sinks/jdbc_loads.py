"""Loads into a database, and what they leave there."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import deltaworks
from deltaworks.spark.databases.base import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest
    from pyspark.sql import DataFrame
    from tests.servers.database import TestDatabase

    from deltaworks.runs.result import LoadResult


def load(rows: DataFrame, database: TestDatabase, mode: str, *, key: str | None = None, **params: Any) -> LoadResult:
    """Load rows into the table `t`."""
    pipeline_id = "orders" if key else None
    config = database.sink(**{"table": "t", **params})
    return deltaworks.load(rows, config, mode, vault=database.vault(), pipeline_id=pipeline_id, key=key)


def from_table(rows: DataFrame, folder: Path, **parts: Any) -> dict[str, Any]:
    """A pipeline that reads these rows from a Delta table, with the other parts of its file."""
    rows.write.format("delta").save(str(folder / "from"))
    extract = {"sourceType": "DeltaLake", "path": str(folder / "from")}
    return {"pipelineId": "orders", "extract": extract, "writeMode": "Append", **parts}


def landed(result: LoadResult) -> LoadResult:
    assert result.success, f"{result.error} {result.hint}"
    return result


def tables(database: TestDatabase) -> list[str]:
    """All tables there are."""
    schema = "'public'" if database.kind == "PostgreSQL" else "database()"
    found = database.rows(f"SELECT table_name FROM information_schema.tables WHERE table_schema = {schema}")
    return [name for (name,) in found]


def beside(database: TestDatabase) -> list[str]:
    """Tables that a load left beside its target."""
    return [name for name in tables(database) if name.startswith("deltaworks_2")]


@contextmanager
def cut_connection(database: TestDatabase, monkeypatch: pytest.MonkeyPatch, when: str) -> Iterator[None]:
    """Cut the connection on the server, as the commit is asked for or right after it was done."""
    honest = Session.commit

    def cut(session: Session) -> None:
        monkeypatch.undo()
        if when == "after":
            honest(session)
        end_connections(database)
        if when == "after":
            session.rows("SELECT 1")
        honest(session)

    monkeypatch.setattr(Session, "commit", cut)
    yield
    monkeypatch.undo()


def end_connections(database: TestDatabase) -> None:
    """End the connections to this database."""
    for number in connections(database):
        database.end(number)


def connections(database: TestDatabase) -> list[int]:
    """The connections to this database, but for the one that asks."""
    found = database.rows(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        if database.kind == "PostgreSQL"
        else "SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()"
    )
    return [number for (number,) in found]


THREE: list[dict[str, Any]] = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": None}]
