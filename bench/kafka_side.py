"""One side of the race from Kafka, in a process of its own: prints how long the load took, its session apart.

python -m bench.kafka_side hand|deltaworks SERVERS TOPIC FOLDER
"""

from __future__ import annotations

import os
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import deltaworks
from bench.side import plain_session
from bench.timing import elapsed
from deltaworks.api import cache_folder
from deltaworks.spark.jars import catalogue
from deltaworks.spark.session import open_session
from deltaworks.spark.settings import SparkSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = (
    "id BIGINT, customer BIGINT, name STRING, amount DOUBLE, at TIMESTAMP, country STRING, paid BOOLEAN, "
    "items BIGINT, note STRING, city STRING"
)


def by_hand(spark: SparkSession, servers: str, topic: str, table: str) -> None:
    """What people write."""
    from pyspark.sql.functions import col, from_json

    options = {"kafka.bootstrap.servers": servers, "subscribe": topic}
    records = spark.read.format("kafka").options(**options).load()
    rows = records.select(from_json(col("value").cast("string"), SCHEMA).alias("row")).select("row.*")
    rows.write.format("delta").mode("append").save(table)


def by_pipeline(spark: SparkSession, servers: str, topic: str, table: str) -> None:
    """The same as a pipeline, with its checks, its record and its reading back."""
    config = {
        "pipelineId": "bench",
        "extract": {
            "sourceType": "Kafka",
            "connectionParams": {"topic": topic, "kafka.bootstrap.servers": servers, "schema": SCHEMA},
        },
        "load": {"sinkType": "DeltaLake", "path": table},
        "writeMode": "Append",
    }
    deltaworks.run(config, spark=spark)


def seconds(how: str, servers: str, topic: str, folder: str) -> float:
    """Load once, into a table that is then removed."""
    os.chdir(folder)
    cache, table = cache_folder(os.environ), str(Path(folder) / how)
    if how == "hand":
        jars = ",".join(str(cache / "jars" / jar.file_name) for jar in catalogue()["kafka"])
        session, act = plain_session(**{"spark.jars": jars}), by_hand
    else:
        session, act = open_session(SparkSettings(cache=cache, groups=frozenset({"delta", "kafka"}))), by_pipeline
    took = elapsed(partial(act, session, servers, topic, table))
    count = session.read.format("delta").load(table).count()
    assert count == deltaworks.open_table(table).rows
    shutil.rmtree(table)
    return took


# Not called main: `make bench` runs every file that has one.
if __name__ == "__main__":
    print(seconds(*sys.argv[1:]))
