"""Sources that break, change or go away under a pipeline."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from tests.servers.kafka import kafka_server
from tests.servers.topic import new_topic
from tests.torture.matrix import over
from tests.torture.streams import DatabaseStream, KafkaStream

if TYPE_CHECKING:
    from tests.servers.database import TestDatabase
    from tests.servers.keeper import Run
    from tests.torture.case import Case

MOST_CUTS = 200
ALL = -1  # records of a partition
SLOWLY = {
    "type": "filter",
    "parameters": {"condition": "coalesce(java_method('java.lang.Thread', 'sleep', CAST(20 AS BIGINT)), '') <> 'x'"},
}


@over("connections cut", sources=("postgres",))
def test_a_database_that_cuts_connections_while_they_read_costs_no_row(case: Case, fault: str) -> None:
    assert isinstance(case.stream, DatabaseStream)
    case.begun()
    extract = case.stream.extract
    few_at_a_time = {**extract["connectionParams"], "fetchSize": 2}
    case.parts = {"extract": {**extract, "connectionParams": few_at_a_time}, "transform": [SLOWLY]}
    done = threading.Event()
    cutting = threading.Thread(target=_cut, args=(case.stream.database, done))
    cutting.start()
    try:
        case.fails("PostgreSQL")
    finally:
        done.set()
        cutting.join()

    case.more()
    case.run()

    case.judge(fault)


def _cut(database: TestDatabase, done: threading.Event) -> None:
    for _ in range(MOST_CUTS):
        if done.wait(0.02):
            return
        database.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@over("made anew", quick=2)
def test_a_source_that_was_made_anew_is_refused_until_all_of_it_is_loaded(case: Case, fault: str) -> None:
    case.begun()
    case.run()
    case.stream.remake()
    case.expected.clear()
    case.more()

    case.fails("--full-refresh")
    case.run(full_refresh=True)
    case.more()
    case.run()

    case.judge(f"source {fault}")


@over("removed unread", sources=("kafka",))
def test_records_that_were_removed_before_they_were_read_are_told(case: Case, fault: str) -> None:
    assert isinstance(case.stream, KafkaStream)
    case.begun()
    for partition in (0, 1):
        case.stream.topic.forget(ALL, partition)
    case.expected.clear()
    case.more()

    case.fails("removed before they were read")
    case.run(full_refresh=True)

    case.judge(f"records {fault}")


@over("another source", quick=1)
def test_a_file_that_names_another_source_is_refused(
    case: Case, fault: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.begun()
    with monkeypatch.context() as changed:
        changed.setattr(type(case.stream), "extract", property(lambda _: _another(case)))
        case.fails("has read")

    case.run()

    case.judge(fault)


def _another(case: Case) -> dict[str, object]:
    """A table that has the same rows, but is not the same."""
    return {"sourceType": "DeltaLake", "connectionParams": {"path": case.target}, "incremental": True}


@pytest.mark.thorough
@pytest.mark.parametrize("case", [("kafka", mode) for mode in ("Append", "Overwrite", "Upsert")], indirect=True)
def test_a_broker_that_is_silent_for_a_while_costs_no_record(case: Case, whole_run: Run) -> None:
    assert isinstance(case.stream, KafkaStream)
    server = kafka_server(whole_run, "fragile-kafka")
    case.stream.topic = new_topic(server)
    case.begun()
    os.killpg(server.keeper, signal.SIGSTOP)
    try:
        case.fails("Kafka")
    finally:
        os.killpg(server.keeper, signal.SIGCONT)

    case.more()
    case.run()

    case.judge("broker that is silent")
