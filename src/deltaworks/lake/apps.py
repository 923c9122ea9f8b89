"""Which applications have left marks in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltaworks.lake.log import Log


def app_ids(log: Log) -> set[str]:
    """The application ids of all txn actions: those of the last checkpoint, and of the commits since."""
    summed_up = max(log.checkpoints(), default=-1)
    return {*_in_checkpoint(log, summed_up), *_in_commits(log, summed_up)}


def _in_checkpoint(log: Log, version: int) -> Iterator[str]:
    for name in log.checkpoints().get(version, ()):
        found = log.lines(name) if name.endswith(".json") else log.rows(name, "txn")
        yield from (action["txn"]["appId"] for action in found if action.get("txn"))


def _in_commits(log: Log, after: int) -> Iterator[str]:
    for version in log.versions(after):
        yield from (mark.app_id for mark in log.commit(version).marks)
