"""One pipeline that will be broken, and the judgement on its table afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltaworks
from deltaworks.errors import DeltaworksError
from tests.e2e.commands import COMMAND
from tests.e2e.commands import deltaworks as command
from tests.torture.processes import PATIENCE, kill
from tests.torture.streams import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pyspark.sql import SparkSession

    from deltaworks.lake.table import Table
    from deltaworks.runs.result import RunResult
    from tests.torture.streams import Stream

SENT_AT_ONCE = 40
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
    parts: Mapping[str, Any] = field(default_factory=dict)  # more of the file
    sink: Mapping[str, Any] = field(default_factory=dict)  # more of its load part
    params: Mapping[str, Any] = field(default_factory=dict)  # more of the connectionParams there
    vault: deltaworks.MemoryVault | None = None
    variables: Mapping[str, str] = field(default_factory=dict)  # the same for a process, but for the stream's
    options: Mapping[str, str] | None = None  # for delta-rs, where the table is elsewhere
    place: Path | None = None  # where its files are then
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
                "connectionParams": {"path": self.target, **MODES[self.mode], **self.params},
            },
            "writeMode": self.mode,
            **self.parts,
        }

    # What is sent

    def more(self) -> None:
        """Send a batch of new rows, which is a whole partition."""
        batch = next(self.batches)
        rows = [Row("torture", batch, seq, batch * 1000 + seq, 0) for seq in range(SENT_AT_ONCE)]
        self.stream.send(rows)
        self.expect(rows)

    def correct(self, batch: int | None = None) -> None:
        """Send the rows of the first batch again, or of another, with other values.

        An append knows no corrections: there every row is new. An overwrite knows those of what has been read.
        """
        if self.mode == "Append":
            return
        wanted = batch or min(row.batch for row in self.expected.values())
        rows = [row._replace(n=row.n + 1) for row in self.expected.values() if row.batch == wanted]
        self.stream.correct(rows)
        self.expect(rows)

    def expect(self, rows: Iterable[Row]) -> None:
        """These rows must be in the table, in the place of what was sent before under their keys."""
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

    def started(self, failpoints: str = "", *words: str, **variables: str) -> subprocess.Popen[str]:
        """Start a process that lands what is there."""
        return subprocess.Popen(
            [*COMMAND, "run", self._file(), *words],
            cwd=self.folder,
            env={**os.environ, **self._variables, **variables, "DELTAWORKS_FAILPOINTS": failpoints},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # by which its JVM is found, too
        )

    def killed_at(self, step: str, **variables: str) -> None:
        """Let a process kill itself at a step."""
        process = self.started(f"{step}=kill", **variables)
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGKILL, said
        kill(process)  # whatever it had started

    def state(self, *words: str) -> None:
        """Move the position, as a person would."""
        verb, *rest = words
        done = command("state", verb, self._file(), *rest, "--yes", cwd=self.folder, **self._variables)
        assert done.returncode == 0, done.stderr

    @property
    def _variables(self) -> dict[str, str]:
        return {**self.stream.variables, **self.variables}

    def _file(self) -> str:
        file = self.folder / "torture.json"
        file.write_text(json.dumps({**self.pipeline, "spark": {"conf": QUICK}}), encoding="utf-8")
        return str(file)

    # The judgement

    def table(self) -> Table:
        """The target, without Spark."""
        return deltaworks.open_table(self.target, storage_options=dict(self.options) if self.options else None)

    def data_files(self) -> set[Path]:
        """The files that its rows are in, and those of rows that never landed."""
        # Not by a pattern, which fails where a folder goes while it is looked at.
        walked = os.walk(self.place or self.target)
        found = {Path(folder, name) for folder, _, names in walked for name in names if name.endswith(".parquet")}
        return {path for path in found if not {"_deltaworks", "_delta_log"} & set(path.parts)}

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
