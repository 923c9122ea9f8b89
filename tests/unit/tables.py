"""Small Delta tables, written by delta-rs the way our own loads write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from deltaworks.lake.commit import Commit, Position, incremental_app_id, keyed_app_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

ROWS = pa.table({"id": [1, 2], "name": ["a", "b"]})


def append(
    path: Path,
    rows: pa.Table = ROWS,
    *,
    commit: CommitProperties | None = None,
    properties: Mapping[str, str | None] | None = None,
    partition_by: list[str] | None = None,
) -> int:
    """Add rows and say which version that made."""
    write_deltalake(
        path,
        rows,
        mode="append",
        commit_properties=commit,
        configuration=properties,
        partition_by=partition_by,
    )
    return DeltaTable(path).version()


def stamp(run: str, *, key: str | None = None, mark: int = 1, pipeline: str = "orders") -> CommitProperties:
    """What a commit of ours carries: the metadata, and the mark where there is a key."""
    text = Commit(run_id=run, pipeline=pipeline, key=key).to_json()
    marks = [Transaction(keyed_app_id(pipeline, key), mark)] if key else []
    return CommitProperties(custom_metadata={"userMetadata": text}, app_transactions=marks)


def land(path: Path, key: str, *, run: str = "run-1", mark: int = 1) -> int:
    """Land rows under a key of the pipeline `orders`."""
    return append(path, commit=stamp(run, key=key, mark=mark))


def deliver(
    path: Path,
    batch: int,
    *,
    run: str = "run-1",
    pipeline: str = "orders",
    source: str = "shop",
    seen: int | None = None,
    table: str | None = None,
    anew: bool = False,
    rows: pa.Table = ROWS,
) -> int:
    """Land a batch of an incremental pipeline, which ends at ten times its number, by the way a run does it."""
    there = DeltaTable(path) if DeltaTable.is_deltatable(str(path)) else None
    known = there.version() if there else -1
    same = str(there.metadata().id) if there and not anew else None
    commit = Commit(
        run_id=run,
        pipeline=pipeline,
        batch=batch,
        position=Position(source=source, start=None if anew else 10 * (batch - 1), end=10 * batch),
        user="ann",
        host="shop",
        seen=known if seen is None else seen,
        table=table or same,
    )
    mark = Transaction(incremental_app_id(pipeline), batch)
    properties = CommitProperties(custom_metadata={"userMetadata": commit.to_json()}, app_transactions=[mark])
    return append(path, rows, commit=properties)


def clean_up(path: Path, *, before: int) -> None:
    """Remove old commits as log clean-up does: behind a checkpoint."""
    DeltaTable(path, version=before).create_checkpoint()
    for version in range(before):
        commit_file(path, version).unlink(missing_ok=True)


def by_hand(path: Path, *actions: Mapping[str, Any]) -> int:
    """Commit actions as they stand, and say which version that made."""
    version = len(list(path.glob("_delta_log/*.json")))
    commit_file(path, version).parent.mkdir(parents=True, exist_ok=True)
    rewrite(path, version, "".join(f"{json.dumps(action)}\n" for action in actions))
    return version


def restore(path: Path, target: int | datetime) -> int:
    """Take the table back, and say which version that made."""
    DeltaTable(path).restore(target)
    return DeltaTable(path).version()


def rewrite(path: Path, version: int, text: str) -> None:
    """Put other text in the place of a commit."""
    commit_file(path, version).write_text(text, encoding="utf-8")


def commit_file(path: Path, version: int, kind: Literal["json", "checkpoint.parquet"] = "json") -> Path:
    """The file of a commit or a checkpoint."""
    return path / "_delta_log" / f"{version:020}.{kind}"
