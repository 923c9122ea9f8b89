"""One pipeline that will be broken, and the judgement on its table afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import deltaworks
from deltaworks.errors import DeltaworksError
from tests.e2e.commands import COMMAND
from tests.e2e.commands import deltaworks as command
from tests.torture.streams import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from deltaworks.lake.table import Table
    from deltaworks.runs.result import RunResult
    from tests.torture.streams import Stream

SENT_AT_ONCE = 40
PATIENCE = 240  # seconds
QUICK = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1", "spark.driver.memory": "1g"}
MODES: dict[str, dict[str, Any]] = {
    "Append": {},
    "Overwrite": {"partitionBy": "batch", "partitionOverwriteMode": "dynamic"},
    "Upsert": {"mergeKeys": "id"},
}


@dataclass
class Case:
    """A stream, a table, a way of writing; what was sent, and what must be in the table."""

    spark: SparkSession
    stream: Stream
    mode: str
    folder: Path
    record: Callable[[str, object], None]
    target: str = ""
    sink: Mapping[str, Any] = field(default_factory=dict)  # more of the load part
    vault: deltaworks.MemoryVault | None = None
    options: Mapping[str, str] | None = None  # for delta-rs, where the table is elsewhere
    expected: dict[int, Row] = field(default_factory=dict)
    batches: Iterator[int] = field(default_factory=lambda: count(1))
    told: list[str] = field(default_factory=list)
    untold: int = 0

    def __post_init__(self) -> None:
        self.target = self.target or str(self.folder / "out")
        self.vault = self.vault or self.stream.vault

    @property
    def pipeline(self) -> dict[str, Any]:
        """The file of the pipeline."""
        return {
            "pipelineId": "torture",
            "extract": self.stream.extract,
            "load": {
                "sinkType": "DeltaLake",
                **self.sink,
                "connectionParams": {"path": self.target, **MODES[self.mode]},
            },
            "writeMode": self.mode,
        }

    # What is sent

    def more(self) -> None:
        """Send a batch of new rows, which is a whole partition."""
        batch = next(self.batches)
        rows = [Row("torture", batch, seq, batch * 1000 + seq, 0) for seq in range(SENT_AT_ONCE)]
        self.stream.send(rows)
        self.expected |= {row.id: row for row in rows}

    def correct(self) -> None:
        """Send the rows of the first batch again, with other values; only where all that was sent has been read.

        An append knows no corrections: there every row is new.
        """
        if self.mode == "Append":
            return
        first = min(row.batch for row in self.expected.values())
        rows = [row._replace(n=row.n + 1) for row in self.expected.values() if row.batch == first]
        self.stream.correct(rows)
        self.expected |= {row.id: row for row in rows}

    def begun(self) -> None:
        """A first batch has landed, and more is there to be read."""
        self.more()
        self.run()
        self.more()
        self.correct()

    # Runs in the tests' own session

    def run(self, **options: Any) -> RunResult:
        """Land what is there."""
        return deltaworks.run(self.pipeline, spark=self.spark, vault=self.vault, **options)

    def fails(self, said: str = "") -> None:
        """Run it; it must fail, and say so."""
        try:
            self.run()
        except DeltaworksError as error:
            self.hear(f"{error} {error.hint}", said)
        else:
            self.untold += 1

    def hear(self, text: str, said: str) -> None:
        """Note that whoever lost was told, and in which words."""
        if said in text:
            self.told.append(text)
        else:
            self.untold += 1

    # Runs in a process of their own

    def started(self, failpoints: str = "") -> subprocess.Popen[str]:
        """Start a process that lands what is there."""
        return subprocess.Popen(
            [*COMMAND, "run", self._file()],
            cwd=self.folder,
            env={**os.environ, **self.stream.variables, "DELTAWORKS_FAILPOINTS": failpoints},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # so that its JVM can be killed with it
        )

    def killed_at(self, step: str) -> None:
        """Let a process kill itself at a step."""
        process = self.started(f"{step}=kill")
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGKILL, said
        kill(process)  # whatever it had started

    def state(self, *words: str) -> None:
        """Move the position, as a person would."""
        verb, *rest = words
        done = command("state", verb, self._file(), *rest, "--yes", cwd=self.folder, **self.stream.variables)
        assert done.returncode == 0, done.stderr

    def _file(self) -> str:
        file = self.folder / "torture.json"
        file.write_text(json.dumps({**self.pipeline, "spark": {"conf": QUICK}}), encoding="utf-8")
        return str(file)

    # The judgement

    def table(self) -> Table:
        """The target, without Spark."""
        return deltaworks.open_table(self.target, storage_options=dict(self.options) if self.options else None)

    def judge(self, fault: str, times: int = 1) -> None:
        """Nothing lost, nothing doubled, each mark once, both engines agree, and every loser was told."""
        table = self.table()
        found = Counter(map(_row, table.to_arrow().select(list(Row._fields)).to_pylist()))
        read = self.spark.read.format("delta").load(self.target).select(*Row._fields)
        by_spark = Counter(map(_row, read.toArrow().to_pylist()))
        expected = Counter(self.expected.values())
        marks = Counter(mark for commit in table.history() for mark in commit.marks)
        verdict = {
            "fault": fault,
            "times": times,
            "sent": len(self.expected),
            "lost": (expected - found).total(),
            "doubled": (found - expected).total(),
            "told": len(self.told),
            "untold": self.untold,
        }
        for name, value in verdict.items():
            self.record(name, value)
        assert by_spark == found
        assert (verdict["lost"], verdict["doubled"], self.untold) == (0, 0, 0), verdict
        assert set(marks.values()) <= {1}


def _row(found: Mapping[str, Any]) -> Row:
    return Row(**found)


def kill(process: subprocess.Popen[str]) -> None:
    """End a process and all that it started, at once."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait(PATIENCE)


def wait_until(true: Callable[[], bool], process: subprocess.Popen[str], pause: float = 0.05) -> None:
    """Wait for something that a process does."""
    until = time.monotonic() + PATIENCE
    while not true():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "it takes too long"
        time.sleep(pause)
