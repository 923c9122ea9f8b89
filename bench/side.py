"""One side of a race, in a process of its own: prints how long its last load took, the session's start left out.

python -m bench.side '{"mode": "Upsert", "rows": "FOLDER", "tables": ["PATH", …], "params": {…}}'
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import deltaworks
from bench.timing import elapsed
from deltaworks.api import cache_folder
from deltaworks.spark.session import open_session
from deltaworks.spark.settings import SparkSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

MERGE = """
MERGE INTO delta.`{table}` AS target USING incoming AS source ON target.id = source.id
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A load of the same rows into each of these tables, one after the other."""

    mode: str
    rows: str
    tables: Sequence[str] = ()
    format: str = "delta"
    params: Mapping[str, Any] | None = None  # none: by hand

    def seconds(self) -> float:
        """Load into every table and say how long the last one took."""
        spark = plain_session() if self.params is None else own_session()
        act = self.by_hand if self.params is None else self.by_pipeline
        return [elapsed(partial(act, spark, table)) for table in self.tables][-1]

    def by_hand(self, spark: SparkSession, table: str) -> None:
        """What people write."""
        incoming = spark.read.parquet(self.rows)
        if self.mode == "Upsert":
            incoming.createOrReplaceTempView("incoming")
            spark.sql(MERGE.format(table=table))
        else:
            incoming.write.format(self.format).mode(self.mode.lower()).save(table)

    def by_pipeline(self, spark: SparkSession, table: str) -> None:
        """The same as a pipeline, with its checks, its record and its reading back."""
        config = {
            "pipelineId": "bench",
            "extract": {"sourceType": "File", "connectionParams": {"format": "parquet", "path": self.rows}},
            "load": {"sinkType": "DeltaLake", "connectionParams": {"path": table, **(self.params or {})}},
            "writeMode": self.mode,
        }
        deltaworks.run(config, spark=spark)


def own_session() -> SparkSession:
    """The session that a pipeline gets."""
    return open_session(SparkSettings(cache=cache_folder(os.environ)))


def plain_session(*packages: str, **conf: Any) -> SparkSession:
    """The session people make by hand, with Delta's own helper and default settings, and more jars by their names."""
    from delta import configure_spark_with_delta_pip
    from pyspark.sql import SparkSession

    builder: Any = (
        SparkSession.builder.config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.ui.showConsoleProgress", "false")
        .config(map=conf)
    )
    found: SparkSession = configure_spark_with_delta_pip(builder, extra_packages=[*packages]).getOrCreate()
    return found


# Not called main: `make bench` runs every file that has one.
if __name__ == "__main__":
    print(Load(**json.loads(sys.argv[1])).seconds())
