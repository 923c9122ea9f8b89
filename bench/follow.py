"""Kafka to Delta, followed: a pipeline beside a foreachBatch written by hand, which remembers nothing in its table.

python -m bench.follow [ROUNDS [SECONDS]]

First each side works off a topic that holds more than it can read in that time: rows a second, from commit to commit.
Then each follows a topic to which a steady stream is sent: how long after it was sent a row is in the table.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from confluent_kafka import Producer
from tests.servers.kafka import kafka_server
from tests.servers.keeper import Run
from tests.servers.topic import new_topic

import deltaworks
from bench.commits import commit_files, made
from bench.timing import Times, save

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.topic import TestTopic

PARTITIONS = 2
BATCH = 100_000  # records that a batch reads at most
BACKLOG = 80_000  # records for each second: more than anybody reads
RATE = 2_000  # records a second of the steady stream
WARM_UP = 5  # commits, or seconds
GOAL = 0.9  # of the rows a second of the job by hand
SIDES = ("hand", "deltaworks")
SCHEMA = "id BIGINT, customer BIGINT, name STRING, amount DOUBLE, country STRING, sent DOUBLE"


def main(rounds: int = 3, seconds: int = 60) -> None:
    """Measure, print rates and latencies, keep the numbers."""
    rates: dict[str, list[float]] = {side: [] for side in SIDES}
    waits: dict[str, list[float]] = {side: [] for side in SIDES}
    with tempfile.TemporaryDirectory(prefix="deltaworks-bench-") as scratch:
        bench = _Bench(Path(scratch), seconds)
        backlog = bench.filled()
        for number in range(rounds):
            for side in SIDES:
                rates[side].append(bench.rate(side, backlog))
                waits[side] += bench.latencies(side)
                print(f"  round {number + 1} of {rounds}: {side} {rates[side][-1]:,.0f} rows/s", flush=True)
    ratio = round(median(rates["deltaworks"]) / median(rates["hand"]), 3)
    latency = {side: _percentiles(waits[side]) for side in SIDES}
    for side in SIDES:
        print(f"{side:<12} {median(rates[side]):,.0f} rows/s, latency in seconds {latency[side]}")
    print(f"ratio {ratio}, goal at least {GOAL}")
    facts = {
        "ratio": ratio,
        "goal": GOAL,
        "met": ratio >= GOAL,
        "followed_seconds": seconds,
        "rows_per_second": {side: [round(each) for each in rates[side]] for side in SIDES},
        "latency_seconds": latency,
        "steady_rows_per_second": RATE,
    }
    print(save("follow", {side: Times(seconds=(float(seconds),) * rounds) for side in SIDES}, **facts))


def _percentiles(seconds: list[float]) -> dict[str, float]:
    cuts = quantiles(seconds, n=100, method="inclusive")
    return {
        "p50": round(cuts[49], 2),
        "p95": round(cuts[94], 2),
        "p99": round(cuts[98], 2),
        "max": round(max(seconds), 2),
    }


@dataclass(frozen=True, slots=True)
class _Bench:
    """A broker, and one side after the other."""

    folder: Path
    seconds: int

    def _topic(self) -> TestTopic:
        return new_topic(kafka_server(Run(self.folder / "servers", os.getpid())), PARTITIONS)

    def filled(self) -> TestTopic:
        """A topic that nobody reads to its end."""
        topic = self._topic()
        producer = _Stream(topic)
        for at in range(BACKLOG * self.seconds):
            producer.send(at)
        producer.end()
        return topic

    def rate(self, side: str, topic: TestTopic) -> float:
        """Rows a second, once it is warm."""
        table = self.folder / side
        with self._following(side, topic, table, most=BATCH):
            _wait_for_commit(table)
            time.sleep(self.seconds)
        commits = list(deltaworks.open_table(table).history())[::-1]
        times = made(table)
        rows = sum(int(commit.metrics["numOutputRows"]) for commit in commits[WARM_UP + 1 :])
        return rows / (times[-1] - times[WARM_UP])

    def latencies(self, side: str) -> list[float]:
        """How long each row of a steady stream took, once it flows; one in a hundred is kept."""
        topic, table = self._topic(), self.folder / side
        producer = _Stream(topic)
        producer.send(0)
        producer.end()
        with self._following(side, topic, table):
            _wait_for_commit(table)
            begun = time.time()
            for at in range(1, RATE * self.seconds):
                producer.send(at)
                if at % (RATE // 20) == 0:
                    time.sleep(max(0.0, begun + at / RATE - time.time()))
            producer.end()
            time.sleep(WARM_UP)
        return [wait for wait, sent in _waits(table) if sent > begun + WARM_UP][::100]

    @contextmanager
    def _following(self, side: str, topic: TestTopic, table: Path, most: int | None = None) -> Iterator[None]:
        for left in (table, table.with_name(f"{side}-checkpoint")):
            shutil.rmtree(left, ignore_errors=True)
        process = self._by_hand(topic, table, most) if side == "hand" else self._by_pipeline(topic, table, most)
        try:
            yield
            assert process.poll() is None, "it ended by itself"
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()

    def _by_hand(self, topic: TestTopic, table: Path, most: int | None) -> subprocess.Popen[bytes]:
        words = [topic.server.plain, topic.name, str(table), *([str(most)] if most else [])]
        return self._started("bench.follow_side", *words)

    def _by_pipeline(self, topic: TestTopic, table: Path, most: int | None) -> subprocess.Popen[bytes]:
        params = {"topic": topic.name, "kafka.bootstrap.servers": topic.server.plain, "schema": SCHEMA}
        config: dict[str, Any] = {
            "pipelineId": "bench",
            "extract": {
                "sourceType": "Kafka",
                "connectionParams": params,
                "incremental": {"maxRecordsPerBatch": most} if most else True,
            },
            "load": {"sinkType": "DeltaLake", "path": str(table)},
            "writeMode": "Append",
        }
        file = self.folder / "bench.json"
        file.write_text(json.dumps(config), encoding="utf-8")
        return self._started("deltaworks.cli.main", "run", str(file), "--follow")

    def _started(self, module: str, *words: str) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        path = f"{Path.cwd()}:{os.environ.get('PYTHONPATH', '')}"
        command = [sys.executable, "-m", module, *words]
        return subprocess.Popen(
            command, cwd=self.folder, env={**os.environ, "PYTHONPATH": path}, stdout=quiet, stderr=quiet
        )


class _Stream:
    """Records on their way to a topic."""

    def __init__(self, topic: TestTopic) -> None:
        self._name = topic.name
        self._producer = Producer({**topic.settings, "linger.ms": 5, "queue.buffering.max.messages": 1_000_000})

    def send(self, at: int) -> None:
        """Send one, which says when that was."""
        record = {"id": at, "customer": at % 1000, "name": f"name-{at % 5000}", "amount": at / 7, "country": "de"}
        value = json.dumps({**record, "sent": time.time()}).encode()
        while True:
            try:
                self._producer.produce(self._name, value, partition=at % PARTITIONS)
            except BufferError:
                self._producer.poll(0.1)
            else:
                return

    def end(self) -> None:
        """See that all have arrived."""
        assert self._producer.flush(120) == 0


def _wait_for_commit(table: Path, patience: float = 120) -> None:
    until = time.monotonic() + patience
    while not commit_files(table):
        assert time.monotonic() < until, "nothing landed"
        time.sleep(0.05)


def _waits(table: Path) -> Iterator[tuple[float, float]]:
    """From when a row was sent until its commit was there, and when it was sent."""
    for file, landed in zip(commit_files(table), made(table), strict=True):
        for line in file.read_text(encoding="utf-8").splitlines():
            if added := json.loads(line).get("add"):
                rows = pq.read_table(table / added["path"], columns=["sent"])
                yield from ((landed - sent, sent) for sent in rows["sent"].to_pylist())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
