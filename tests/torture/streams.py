"""Sources that grow while pipelines read them; every row says where it comes from."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from tests.servers.topic import new_topic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from deltaworks import MemoryVault
    from tests.servers.database import TestDatabase
    from tests.servers.topic import TestTopic

MORE = {"more": 7}
COLUMNS = "run STRING, batch BIGINT, seq BIGINT, id BIGINT, n BIGINT"


class Row(NamedTuple):
    """A row as it was sent: by whom, in which batch, as which of it; its key, and how often it was corrected."""

    run: str | None
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
    def whole(self) -> dict[str, Any]:
        """The part of a pipeline that reads all of it, each time."""

    @property
    @abstractmethod
    def extract(self) -> dict[str, Any]:
        """The part of the pipeline that reads what is new."""

    @abstractmethod
    def send(self, rows: Sequence[Row]) -> None:
        """Add rows that are new."""

    @abstractmethod
    def correct(self, rows: Sequence[Row]) -> None:
        """Send rows again that were sent before, with other values."""

    @abstractmethod
    def remake(self) -> None:
        """Take it away, and put another one in its place that has no rows yet."""

    @abstractmethod
    def grow(self) -> None:
        """Let all rows from now on have one column more, which is `MORE`."""

    @abstractmethod
    def retype(self) -> str:
        """Let `n` be text from now on; what must be said of that."""


@dataclass
class KafkaStream(Stream):
    """Records of a topic; a key is always in the same partition."""

    topic: TestTopic
    variables: dict[str, str] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=lambda: {"schema": COLUMNS})  # so that no record is looked at
    others: dict[str, Any] = field(default_factory=dict)  # values that records have instead of those of their rows

    @property
    def whole(self) -> dict[str, Any]:
        """All records."""
        return self.topic.source(**self.params)

    @property
    def extract(self) -> dict[str, Any]:
        """From the last offsets on."""
        return {**self.whole, "incremental": True}

    def send(self, rows: Sequence[Row]) -> None:
        """As JSON."""
        for partition in (0, 1):
            values = [row._asdict() | self.others for row in rows if row.id % 2 == partition]
            self.topic.send(*values, partition=partition)

    correct = send

    def remake(self) -> None:
        """With the same name."""
        admin = self.topic.admin()
        admin.delete_topics([self.topic.name])[self.topic.name].result()
        self.topic = new_topic(self.topic.server, name=self.topic.name)

    def grow(self) -> None:
        """Which is found out where no schema is given."""
        self.others = MORE

    def retype(self) -> str:
        """As JSON has it: no record that a reader with the table's columns can make sense of."""
        self.others = {"n": "many"}
        return "a value does not fit its column"


@dataclass
class DatabaseStream(Stream):
    """Rows of a table, whose cursor grows with every change."""

    database: TestDatabase
    ticks: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self._create()
        self.vault = self.database.vault()
        self.variables = {f"DELTAWORKS_DB__{name.upper()}": value for name, value in self.database.credential.items()}

    def _create(self) -> None:
        self.database.run(
            "CREATE TABLE sent (run VARCHAR(80), batch BIGINT, seq BIGINT, id BIGINT PRIMARY KEY, n BIGINT, "
            "tick BIGINT)"
        )

    @property
    def whole(self) -> dict[str, Any]:
        """The table."""
        return self.database.source(table="sent")

    @property
    def extract(self) -> dict[str, Any]:
        """By the cursor."""
        return {**self.whole, "incremental": {"cursorColumn": "tick"}}

    def send(self, rows: Sequence[Row]) -> None:
        """In one transaction."""
        values = (", ".join(map(_sql, (*row, next(self.ticks)))) for row in rows)
        self.database.run(f"INSERT INTO sent VALUES {', '.join(f'({each})' for each in values)}")

    def correct(self, rows: Sequence[Row]) -> None:
        """In their places."""
        self.database.run(
            *(f"UPDATE sent SET n = {row.n}, tick = {next(self.ticks)} WHERE id = {row.id}" for row in rows)
        )

    def remake(self) -> None:
        """With the same name; its cursor begins anew."""
        self.database.run("DROP TABLE sent")
        self.ticks = count(1)
        self._create()

    def grow(self) -> None:
        """As nulls in the rows that are there, for their cursor stays."""
        for name, value in MORE.items():
            self.database.run(
                f"ALTER TABLE sent ADD COLUMN {name} BIGINT",
                f"ALTER TABLE sent ALTER COLUMN {name} SET DEFAULT {value}",
            )

    def retype(self) -> str:
        """In the rows that are there, too."""
        self.database.run("ALTER TABLE sent ALTER COLUMN n TYPE TEXT")
        return "column 'n' is string in the rows and bigint in the table"


@dataclass
class TableStream(Stream):
    """Changes of a Delta table, or with `feed` unset the rows that are added to one."""

    path: Path
    feed: bool
    variables: dict[str, str] = field(default_factory=dict)
    others: dict[str, Any] = field(default_factory=dict)  # values that rows have instead of their own

    @property
    def whole(self) -> dict[str, Any]:
        """The table as it is."""
        return {"sourceType": "DeltaLake", "connectionParams": {"path": str(self.path)}}

    @property
    def extract(self) -> dict[str, Any]:
        """From the first version on."""
        params = {"path": str(self.path), **({"readChangeFeed": True} if self.feed else {})}
        return {"sourceType": "DeltaLake", "connectionParams": params, "incremental": True}

    def send(self, rows: Sequence[Row]) -> None:
        """As one commit."""
        properties = {"delta.enableChangeDataFeed": "true"} if self.feed else {}
        found = as_arrow(rows, self.others)
        write_deltalake(self.path, found, mode="append", schema_mode="merge", configuration=properties)

    def correct(self, rows: Sequence[Row]) -> None:
        """In their places; where there is no feed to tell so, as rows that are added."""
        if not self.feed:
            self.send(rows)
            return
        merge = DeltaTable(self.path).merge(as_arrow(rows), "t.id = s.id", source_alias="s", target_alias="t")
        merge.when_matched_update_all().execute()

    def remake(self) -> None:
        """With the rows that come next."""
        shutil.rmtree(self.path)

    def grow(self) -> None:
        """With the rows that come next."""
        self.others = MORE

    def retype(self) -> str:
        """In the place of what was there, as nobody can add rows of another type."""
        rows = [Row(**row) for row in DeltaTable(self.path).to_pyarrow_table().to_pylist()]
        self.others = {"n": "many"}
        write_deltalake(self.path, as_arrow(rows, self.others), mode="overwrite", schema_mode="overwrite")
        return "column 'n' was renamed, dropped or given another type" if self.feed else "were changed or deleted"


def _sql(value: str | int | None) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "NULL" if value is None else str(value)


def as_arrow(rows: Sequence[Row], others: dict[str, Any] | None = None) -> pa.Table:
    """Rows as delta-rs takes them, with values instead of their own."""
    return pa.Table.from_pylist([row._asdict() | (others or {}) for row in rows])
