"""The five pipelines of the specification, run as they stand: only credentials and `set` say where and who."""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from deltalake import DeltaTable, write_deltalake

import deltaworks
from tests.integration.s3.lake import credential
from tests.integration.stores import store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from confluent_kafka import Message
    from pyspark.sql import SparkSession

    from deltaworks.runs.result import RunResult
    from tests.servers.database import TestDatabase
    from tests.servers.kafka import KafkaServer
    from tests.servers.s3 import S3Server

SPEC = Path(__file__).parents[2] / "examples/spec"
USERS, EVENTS = "s3a://data-lake/delta/users", "s3a://data-lake/delta/events"


pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture
def lake(s3: S3Server) -> Iterator[Path]:
    """The buckets that the pipelines name, empty; as folders of the server."""
    data = s3.folder / "data"
    for name in ("data-lake", "reports"):
        shutil.rmtree(data / name, ignore_errors=True)
        s3.bucket(name)
    yield data
    for name in ("data-lake", "reports"):
        shutil.rmtree(data / name)


def run(
    name: str, spark: SparkSession, s3: S3Server, *, settings: dict[str, Any] | None = None, **vault: Any
) -> RunResult:
    """Run one of the five files."""
    (shipped,) = SPEC.glob(f"{name}-*.json")
    file = shutil.copy(shipped, Path.cwd())  # away from the project that the other examples have
    known = deltaworks.MemoryVault({"s3-creds": credential(s3), **vault})
    return deltaworks.run(file, spark=spark, vault=known, set=settings)


def rows_at(uri: str, s3: S3Server) -> list[dict[str, Any]]:
    """The rows of a table."""
    found: list[dict[str, Any]] = deltaworks.open_table(uri, storage_options=s3.options()).to_arrow().to_pylist()
    return sorted(found, key=str)


def user(number: int, name: str, country: str, created: date, month: int) -> dict[str, Any]:
    at = datetime(2024, month, 1, tzinfo=UTC)
    return {"user_id": number, "name": name, "country": country, "created_date": created, "updated_at": at}


def test_simple_append(spark: SparkSession, s3: S3Server, lake: Path, pg: TestDatabase) -> None:
    pg.run(
        "CREATE TABLE users (user_id bigint, name text, country text, created_date date, updated_at timestamptz)",
        "INSERT INTO users VALUES (1, 'ann', 'de', '2023-05-01', '2024-02-01')",
        "INSERT INTO users VALUES (2, 'bob', 'fr', '2023-06-01', '2024-03-01')",
        "INSERT INTO users VALUES (3, 'old', 'de', '2020-01-01', '2023-12-31')",
        "INSERT INTO users VALUES (4, 'edge', 'de', '2020-01-01', '2024-01-01')",
    )
    creds = {"postgres-creds": pg.credential}
    result = run("1", spark, s3, **creds)

    first = [user(1, "ann", "de", date(2023, 5, 1), 2), user(2, "bob", "fr", date(2023, 6, 1), 3)]
    assert rows_at(USERS, s3) == first
    assert result.load.rows_inserted == 2
    table = deltaworks.open_table(USERS, storage_options=s3.options())
    assert table.partition_columns == ("country", "created_date")
    # Appended, with a column that is new: mergeSchema.
    pg.run("DELETE FROM users", "ALTER TABLE users ADD COLUMN email text")
    pg.run("INSERT INTO users VALUES (5, 'eve', 'it', '2024-04-01', '2024-05-01', 'e@x')")
    run("1", spark, s3, **creds)
    fifth = user(5, "eve", "it", date(2024, 4, 1), 5) | {"email": "e@x"}
    assert rows_at(USERS, s3) == sorted([*({**row, "email": None} for row in first), fifth], key=str)


def test_upsert_with_merge(spark: SparkSession, s3: S3Server, lake: Path, kafka: KafkaServer) -> None:
    old, new, late = "2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"
    rows = [{"user_id": number, "name": "before", "updated_at": _at(new)} for number in (1, 2, 3)]
    write_deltalake(USERS.replace("s3a", "s3"), pa.Table.from_pylist(rows), storage_options=s3.options())
    records = [
        {"user_id": 1, "name": "newer", "updated_at": late},
        {"user_id": 2, "name": "too old", "updated_at": old},
        {"user_id": 4, "name": "first", "updated_at": new},
        {"user_id": 4, "name": "second", "updated_at": late, "email": "4@x"},
    ]
    with topic(kafka, "user-updates"):
        produced(kafka, "user-updates", records)
        result = run("2", spark, s3, settings=_broker("extract", kafka))

    found = {row["user_id"]: (row["name"], row["updated_at"], row["email"]) for row in rows_at(USERS, s3)}
    assert found == {
        1: ("newer", _at(late), None),
        2: ("before", _at(new), None),
        3: ("before", _at(new), None),
        4: ("second", _at(late), "4@x"),
    }
    assert (result.load.rows_inserted, result.load.rows_updated, result.load.rows_superseded) == (1, 1, 1)


def test_time_travel_read(spark: SparkSession, s3: S3Server, lake: Path, tmp_path: Path) -> None:
    made: dict[datetime, list[tuple[int | None, str]]] = {
        datetime(2023, 6, 1, tzinfo=UTC): [(1, "de"), (2, "de"), (3, "fr")],
        datetime(2023, 12, 31, 23, 59, 59, tzinfo=UTC): [(4, "fr"), (None, "it")],
        datetime(2024, 1, 1, 0, 0, 1, tzinfo=UTC): [(5, "de")],
    }
    schema = pa.schema({"user_id": pa.int64(), "country": pa.string()})
    for version, (at, users) in enumerate(made.items()):
        rows = pa.Table.from_pylist([{"user_id": user, "country": country} for user, country in users], schema)
        write_deltalake(tmp_path / "users", rows, mode="append")
        dated(tmp_path / f"users/_delta_log/{version:020}.json", at)
    uploaded(tmp_path / "users", s3)
    result = run("3", spark, s3)

    files = sorted((lake / "reports/users-snapshot-2024-01-01").glob("*.parquet"))
    found = pa.concat_tables([pq.read_table(file) for file in files]).to_pylist()
    assert sorted(found, key=str) == [
        {"country": "de", "user_count": 2},
        {"country": "fr", "user_count": 2},
        {"country": "it", "user_count": 0},
    ]
    assert result.load.rows_inserted == 3
    # A second run replaces the report.
    run("3", spark, s3)
    again = spark.read.parquet("s3a://reports/users-snapshot-2024-01-01/")
    assert again.count() == 3


def test_change_data_feed(spark: SparkSession, s3: S3Server, lake: Path, kafka: KafkaServer, tmp_path: Path) -> None:
    begun = datetime.now(UTC)
    _table_of_160_versions(tmp_path / "users")
    uploaded(tmp_path / "users", s3)
    expected = deltaworks.open_table(tmp_path / "users").changes(100, 150).read_all().to_pylist()
    with topic(kafka, "user-changes"):
        result = run("4", spark, s3, settings=_broker("load", kafka))
        messages = consumed(kafka, "user-changes", len(expected))

    found = [json.loads(message.value() or b"null") for message in messages]
    # A commit is of the time when its file came to the bucket, which the table before that does not know.
    times = {(row["_commit_version"], row.pop("_commit_timestamp")) for row in found}
    assert sorted(found, key=str) == sorted((_without_time(row) for row in expected), key=str)
    assert [version for version, _ in sorted(times)] == list(range(100, 151))
    assert all(begun <= _at(at) <= datetime.now(UTC) and at.endswith("Z") for _, at in times)
    assert {row["_commit_version"] for row in found} == set(range(100, 151))
    kinds = {"insert", "update_preimage", "update_postimage", "delete"}
    assert {row["_change_type"] for row in found} == kinds
    assert result.load.rows_written == len(expected)
    for message in messages:
        assert message.key() is None
        assert dict(message.headers() or ()) == {
            "deltaworks-pipeline": b"users-cdc-processing",
            "deltaworks-run": result.run_id.encode(),
            "deltaworks-row": hashlib.sha256(b"\0" + (message.value() or b"")).hexdigest().encode(),
        }


def _without_time(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "_commit_timestamp"}


def test_partition_overwrite(spark: SparkSession, s3: S3Server, lake: Path, pg: TestDatabase) -> None:
    pg.run(
        "CREATE TABLE events (id bigint primary key, event_date date, kind text)",
        "INSERT INTO events VALUES (1, '2024-01-01', 'old'), (2, '2024-01-01', 'old'), (3, '2024-01-02', 'other day')",
    )
    creds = {"postgres-creds": pg.credential}
    run("5", spark, s3, **creds)
    other = pa.table({"id": [9], "event_date": [date(2023, 12, 31)], "kind": ["kept"]})
    write_deltalake(EVENTS.replace("s3a", "s3"), other, mode="append", storage_options=s3.options())
    pg.run("UPDATE events SET kind = 'new' WHERE id = 2", "DELETE FROM events WHERE id = 1")
    result = run("5", spark, s3, **creds)

    assert rows_at(EVENTS, s3) == [
        {"id": 2, "event_date": date(2024, 1, 1), "kind": "new"},
        {"id": 9, "event_date": date(2023, 12, 31), "kind": "kept"},
    ]
    assert (result.load.rows_inserted, result.load.rows_deleted) == (1, 2)
    assert deltaworks.open_table(EVENTS, storage_options=s3.options()).partition_columns == ("event_date",)


def dated(commit: Path, at: datetime) -> None:
    """Make a commit one of another time."""
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    for action in actions:
        if "commitInfo" in action:
            action["commitInfo"]["timestamp"] = int(at.timestamp() * 1000)
    commit.write_text("\n".join(map(json.dumps, actions)))


def uploaded(table: Path, s3: S3Server) -> None:
    """Put a table where the pipelines look for users."""
    bucket = store(s3, "data-lake")
    for file in table.rglob("*"):
        if file.is_file():
            obstore.put(bucket, f"delta/users/{file.relative_to(table)}", file.read_bytes())


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _table_of_160_versions(path: Path) -> None:
    """Inserts, updates and deletes, with a feed."""
    row = pa.table({"user_id": [0], "name": ["user 0"]})
    write_deltalake(path, row, configuration={"delta.enableChangeDataFeed": "true"})
    for version in range(1, 161):
        table = DeltaTable(path)
        if version % 10 == 3:
            table.update(predicate=f"user_id = {version - 1}", updates={"name": f"'changed at {version}'"})
        elif version % 10 == 7:
            table.delete(f"user_id = {version - 2}")
        else:
            more = pa.table({"user_id": [version, 1000 + version], "name": [f"user {version}", "é\"'"]})
            write_deltalake(table, more, mode="append")


# Kafka by its own client


def _broker(part: str, kafka: KafkaServer) -> dict[str, str]:
    return {f'{part}.connectionParams."kafka.bootstrap.servers"': kafka.plain}


class topic:  # noqa: N801 - reads as a statement
    """A topic of this name, gone at the end."""

    def __init__(self, kafka: KafkaServer, name: str) -> None:
        self.admin, self.name = AdminClient({"bootstrap.servers": kafka.plain}), name

    def __enter__(self) -> None:
        self.admin.create_topics([NewTopic(self.name, 3, 1)])[self.name].result(20)

    def __exit__(self, *_: object) -> None:
        self.admin.delete_topics([self.name])[self.name].result(20)


def produced(kafka: KafkaServer, name: str, records: list[dict[str, Any]]) -> None:
    """Send records, those of a user in order."""
    producer = Producer({"bootstrap.servers": kafka.plain})
    for record in records:
        producer.produce(name, json.dumps(record).encode(), key=str(record["user_id"]))
    assert producer.flush(20) == 0


def consumed(kafka: KafkaServer, name: str, number: int) -> list[Message]:
    """All that a topic has, which is so many."""
    settings = {"bootstrap.servers": kafka.plain, "group.id": uuid.uuid4().hex, "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, "enable.partition.eof": False})
    consumer.subscribe([name])
    try:
        return consumer.consume(number, timeout=20) + consumer.consume(1, timeout=0.5)
    finally:
        consumer.close()
