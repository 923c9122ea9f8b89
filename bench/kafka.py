"""Kafka to Delta, two million JSON messages of ten fields in four partitions: a pipeline beside a job written by hand.

python -m bench.kafka [ROUNDS [MESSAGES]]

By hand is what Spark's own guide shows: read, cast, from_json, write. It gives nulls for what it cannot read; the
pipeline looks at every record. Each side runs in a process of its own, whose start does not count.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.servers.kafka import kafka_server
from tests.servers.keeper import Run
from tests.servers.topic import new_topic

from bench.timing import interleaved, save
from deltaworks.api import cache_folder
from deltaworks.spark.settings import SparkSettings
from deltaworks.spark.training import make

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.servers.topic import TestTopic

MESSAGES = 2_000_000
PARTITIONS = 4
GOAL = 1.0  # of the time of the job by hand
SIDES = ("hand", "deltaworks")


def main(rounds: int = 3, number: int = MESSAGES) -> None:
    """Measure, print the ratio, keep the numbers."""
    make(SparkSettings(cache=cache_folder(os.environ)))
    with tempfile.TemporaryDirectory(prefix="deltaworks-bench-") as scratch:
        folder = Path(scratch)
        topic = new_topic(kafka_server(Run(folder / "servers", os.getpid())), PARTITIONS, "orders")
        size = _fill(topic, number)
        peers: dict[str, Callable[[], float]] = {name: partial(_seconds, name, topic, folder) for name in SIDES}
        times = interleaved(peers, rounds=rounds)
    facts = {
        name: {
            "ratio": round(found.median / times["hand"].median, 3),
            "rows_per_second": round(number / found.median),
            "megabytes_per_second": round(size / found.median / 1e6, 1),
        }
        for name, found in times.items()
    }
    for name, found in facts.items():
        print(f"{name:<12} {times[name]}  " + "  ".join(f"{key} {value}" for key, value in found.items()))
    print(save("kafka", times, rows=number, bytes=size, partitions=PARTITIONS, goal=GOAL, sides=facts))


def _fill(topic: TestTopic, number: int) -> int:
    """Send the messages; how many bytes they are."""
    from confluent_kafka import Producer

    producer, size = Producer({**topic.settings, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000}), 0
    for at in range(number):
        value = json.dumps(_message(at)).encode()
        size += len(value)
        _send(producer, topic.name, value, at % PARTITIONS)
    assert producer.flush(120) == 0
    return size


def _send(producer: object, name: str, value: bytes, partition: int) -> None:
    while True:
        try:
            producer.produce(name, value, partition=partition)  # type: ignore[attr-defined]
        except BufferError:
            producer.poll(0.1)  # type: ignore[attr-defined]
        else:
            return


def _message(at: int) -> dict[str, object]:
    return {
        "id": at,
        "customer": at % 1000,
        "name": f"name-{at % 5000}",
        "amount": at % 977 / 7,
        "at": f"2024-01-01T{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}Z",
        "country": ("de", "fr", "pl")[at % 3],
        "paid": at % 2 == 0,
        "items": at % 7,
        "note": None if at % 3 else "a note of some words",
        "city": f"city-{at % 100}",
    }


def _seconds(how: str, topic: TestTopic, folder: Path) -> float:
    """Load in a new process; how long the load took, as it says itself."""
    command = [sys.executable, "-m", "bench.kafka_side", how, topic.server.plain, topic.name, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return float(done.stdout.strip().splitlines()[-1])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
