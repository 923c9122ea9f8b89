"""Incremental pipelines into a Delta table, run in the tests' session."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

import deltaworks
from deltaworks import failpoints
from deltaworks.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from deltaworks.lake.log import LoggedCommit
    from deltaworks.runs.result import RunResult


def pipeline(extract: dict[str, Any], target: Path, mode: str = "Append", **parts: Any) -> dict[str, Any]:
    """A pipeline; `load` has more of its connectionParams, the rest are other parts of the file."""
    params = parts.pop("load", {})
    return {
        "pipelineId": "orders",
        "extract": extract,
        "load": {"sinkType": "DeltaLake", "connectionParams": {"path": str(target), **params}},
        "writeMode": mode,
        **parts,
    }


def run(
    spark: SparkSession,
    extract: dict[str, Any],
    target: Path,
    mode: str = "Append",
    *,
    full_refresh: bool = False,
    between: tuple[str, str] | None = None,
    **parts: Any,
) -> RunResult:
    """Run it once."""
    found = pipeline(extract, target, mode, **parts)
    return deltaworks.run(found, spark=spark, full_refresh=full_refresh, between=between)


def following(path: Path, incremental: Any = True, **params: Any) -> dict[str, Any]:
    """A source of what is new in a Delta table."""
    return {
        "sourceType": "DeltaLake",
        "connectionParams": {"path": str(path), **params},
        "incremental": incremental,
    }


def table(spark: SparkSession, path: Path, *rows: str, columns: str = "id INT", feed: bool = False) -> Path:
    """A Delta table with rows, each version a text of SQL values."""
    name = f"delta.`{path}`"
    kept = " TBLPROPERTIES (delta.enableChangeDataFeed = true)" if feed else ""
    spark.sql(f"CREATE TABLE {name} ({columns}) USING delta{kept}")
    for values in rows:
        insert(spark, path, values)
    return path


def insert(spark: SparkSession, path: Path, values: str) -> None:
    """Add rows to a Delta table, as SQL values, in one file."""
    spark.sql(f"INSERT INTO delta.`{path}` SELECT /*+ COALESCE(1) */ * FROM VALUES {values}")


def changed(spark: SparkSession, path: Path, statement: str) -> None:
    """Do something to a table, which the statement calls `it`."""
    spark.sql(re.sub(r"\bit\b", f"delta.`{path}`", statement))


def ids(rows: list[dict[str, Any]]) -> list[Any]:
    """The ids of rows."""
    return sorted(row["id"] for row in rows)


def batches(path: Path) -> list[LoggedCommit]:
    """The commits that hold a mark of the pipeline, oldest first; each mark is there once."""
    found = [each for each in deltaworks.open_table(path).history() if each.marks]
    marks = [mark for each in found for mark in each.marks]
    assert len(set(marks)) == len(marks)
    return found[::-1]


@contextmanager
def broken_off(monkeypatch: pytest.MonkeyPatch, step: str) -> Iterator[None]:
    """Let what is inside fail at a step."""
    with monkeypatch.context() as armed:
        armed.setenv("DELTAWORKS_FAILPOINTS", f"{step}=raise")
        with pytest.raises(RunError, match=step):
            yield


def meanwhile(monkeypatch: pytest.MonkeyPatch, step: str, act: Callable[[], object]) -> None:
    """Let something happen, once, when the next run reaches a step."""
    waiting = [act]

    def reach(name: str) -> None:
        if name == step and waiting:
            waiting.pop()()

    monkeypatch.setattr(failpoints, "reach", reach)
