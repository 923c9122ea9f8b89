"""Sources that grow while pipelines read them; every row says where it comes from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from deltaworks import MemoryVault
    from tests.servers.database import TestDatabase
    from tests.servers.topic import TestTopic

COLUMNS = "run STRING, batch BIGINT, seq BIGINT, id BIGINT, n BIGINT"


class Row(NamedTuple):
    """A row as it was sent: by whom, in which batch, as which of it; its key, and how often it was corrected."""

    run: str
    batch: int
    seq: int
    id: int
    n: int


class Stream(ABC):
    """Where rows come from."""

    vault: MemoryVault | None = None
    variables: dict[str, str]

    @property
    @abstractmethod
    def extract(self) -> dict[str, Any]:
        """The part of the pipeline that reads it."""

    @abstractmethod
    def send(self, rows: Sequence[Row]) -> None:
        """Add rows that are new."""

    @abstractmethod
    def correct(self, rows: Sequence[Row]) -> None:
        """Send rows again that were sent before, with other values."""


@dataclass
class KafkaStream(Stream):
    """Records of a topic; a key is always in the same partition."""

    topic: TestTopic
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def extract(self) -> dict[str, Any]:
        """With the columns given, so that no record has to be looked at."""
        return {**self.topic.source(schema=COLUMNS), "incremental": True}

    def send(self, rows: Sequence[Row]) -> None:
        """As JSON."""
        for partition in (0, 1):
            values = [row._asdict() for row in rows if row.id % 2 == partition]
            self.topic.send(*values, partition=partition)

    correct = send


@dataclass
class DatabaseStream(Stream):
    """Rows of a table, whose cursor grows with every change."""

    database: TestDatabase
    ticks: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.database.run(
            "CREATE TABLE sent (run VARCHAR(80), batch BIGINT, seq BIGINT, id BIGINT PRIMARY KEY, n BIGINT, "
            "tick BIGINT)"
        )
        self.vault = self.database.vault()
        self.variables = {f"DELTAWORKS_DB__{name.upper()}": value for name, value in self.database.credential.items()}

    @property
    def extract(self) -> dict[str, Any]:
        """By the cursor."""
        return {**self.database.source(table="sent"), "incremental": {"cursorColumn": "tick"}}

    def send(self, rows: Sequence[Row]) -> None:
        """In one transaction."""
        values = (f"('{row.run}', {row.batch}, {row.seq}, {row.id}, {row.n}, {next(self.ticks)})" for row in rows)
        self.database.run(f"INSERT INTO sent VALUES {', '.join(values)}")

    def correct(self, rows: Sequence[Row]) -> None:
        """In their places."""
        self.database.run(
            *(f"UPDATE sent SET n = {row.n}, tick = {next(self.ticks)} WHERE id = {row.id}" for row in rows)
        )


@dataclass
class TableStream(Stream):
    """Changes of a Delta table, or with `feed` unset the rows that are added to one."""

    path: Path
    feed: bool
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def extract(self) -> dict[str, Any]:
        """From the first version on."""
        params = {"path": str(self.path), **({"readChangeFeed": True} if self.feed else {})}
        return {"sourceType": "DeltaLake", "connectionParams": params, "incremental": True}

    def send(self, rows: Sequence[Row]) -> None:
        """As one commit."""
        properties = {"delta.enableChangeDataFeed": "true"} if self.feed else {}
        write_deltalake(self.path, _arrow(rows), mode="append", configuration=properties)

    def correct(self, rows: Sequence[Row]) -> None:
        """In their places; where there is no feed to tell so, as rows that are added."""
        if not self.feed:
            self.send(rows)
            return
        merge = DeltaTable(self.path).merge(_arrow(rows), "t.id = s.id", source_alias="s", target_alias="t")
        merge.when_matched_update_all().execute()


def _arrow(rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist([row._asdict() for row in rows])
