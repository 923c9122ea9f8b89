"""A bucket as pipelines see it: its tables through the public face, and through both engines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.integration.rows import collected, frame

import deltaworks
from deltaworks import MemoryVault, open_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.servers.s3 import Identity, S3Server

    from deltaworks.lake.table import Table
    from deltaworks.runs.result import LoadResult, RunResult


def credential(s3: S3Server, identity: Identity | None = None) -> dict[str, str]:
    """What a vault holds for the server."""
    asking = identity or s3.owner
    return {"access_key_id": asking.key, "secret_access_key": asking.secret, "endpoint": s3.endpoint}


@dataclass(frozen=True)
class Lake:
    """One bucket, reached with one credential."""

    spark: SparkSession
    s3: S3Server
    bucket: str
    vault: MemoryVault
    options: dict[str, Any] = field(default_factory=dict)

    def uri(self, name: str, scheme: str = "s3a") -> str:
        """Where a table is."""
        return f"{scheme}://{self.bucket}/{name}"

    def load(self, rows: list[dict[str, Any]], name: str, mode: str = "Append", **params: Any) -> LoadResult:
        """Load rows into a table."""
        load = self.sink(name, **params)
        return deltaworks.load(frame(self.spark, *rows), load, mode, vault=self.vault)

    def sink(self, name: str, **params: Any) -> dict[str, Any]:
        """The `load` part for a table."""
        given = {"path": self.uri(name), **params}
        return {"sinkType": "DeltaLake", "credentialId": "lake", "connectionParams": given, "options": self.options}

    def run(self, **pipeline: Any) -> RunResult:
        """Run a pipeline."""
        return deltaworks.run(
            {"pipelineId": "orders", "writeMode": "Append", **pipeline}, spark=self.spark, vault=self.vault
        )

    def table(self, name: str) -> Table:
        """A table, without Spark."""
        return open_table(self.uri(name), storage_options=self.s3.options())

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table, of which both engines say the same."""
        read = self.spark.read.format("delta").load(self.uri(name))
        found, other = collected(read), sorted(self.table(name).to_arrow().to_pylist(), key=str)
        assert found == other
        return found

    def changes(self, name: str) -> list[tuple[str, Any]]:
        """What the change feed tells, of which both engines say the same."""
        feed = self.spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", 0)
        spark = [(row["_change_type"], row["id"]) for row in feed.load(self.uri(name)).collect()]
        rust = self.table(name).changes(0).read_all().select(["_change_type", "id"]).to_pylist()
        found = sorted((row["_change_type"], row["id"]) for row in rust)
        assert found == sorted(spark)
        return found


def lake_on(spark: SparkSession, s3: S3Server, bucket: str, **options: Any) -> Lake:
    """The bucket, with the owner's credential."""
    return Lake(spark, s3, bucket, MemoryVault({"lake": credential(s3)}), options)
