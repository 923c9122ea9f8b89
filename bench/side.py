"""One side of a race, in a process of its own: prints how long the load took, the session's start left out.

python -m bench.side hand|deltaworks append|upsert ROWS TABLE
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

import deltaworks
from deltaworks.api import cache_folder
from deltaworks.spark.session import open_session
from deltaworks.spark.settings import SparkSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MERGE = """
MERGE INTO delta.`{table}` AS target USING incoming AS source ON target.id = source.id
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
"""


def main(who: str, what: str, rows: str, table: str) -> None:
    """Load once and print the seconds."""
    spark = session(who)
    start = time.perf_counter()
    {"hand": by_hand, "deltaworks": by_pipeline}[who](spark, what, rows, table)
    print(time.perf_counter() - start)


def session(who: str) -> SparkSession:
    """The session people make by hand, with Delta's own helper and default settings; or ours."""
    if who == "deltaworks":
        return open_session(SparkSettings(cache=cache_folder(os.environ)))
    from delta import configure_spark_with_delta_pip
    from pyspark.sql import SparkSession

    builder: Any = (
        SparkSession.builder.config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.ui.showConsoleProgress", "false")
    )
    found: SparkSession = configure_spark_with_delta_pip(builder).getOrCreate()
    return found


def by_hand(spark: SparkSession, what: str, rows: str, table: str) -> None:
    """What people write."""
    incoming = spark.read.parquet(rows)
    if what == "append":
        incoming.write.format("delta").mode("append").save(table)
    else:
        incoming.createOrReplaceTempView("incoming")
        spark.sql(MERGE.format(table=table))


def by_pipeline(spark: SparkSession, what: str, rows: str, table: str) -> None:
    """The same as a pipeline, with its checks, its record and its reading back."""
    keys = {"mergeKeys": ["id"]} if what == "upsert" else {}
    config = {
        "pipelineId": what,
        "extract": {"sourceType": "File", "connectionParams": {"format": "parquet", "path": rows}},
        "load": {"sinkType": "DeltaLake", "connectionParams": {"path": table, **keys}},
        "writeMode": what.title(),
    }
    deltaworks.run(config, spark=spark)


if __name__ == "__main__":
    main(*sys.argv[1:])
