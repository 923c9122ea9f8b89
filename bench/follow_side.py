"""The job by hand in the race of streams, in a process of its own: follows a topic until it is ended.

python -m bench.follow_side SERVERS TOPIC TABLE [RECORDS_PER_BATCH]
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from bench.follow import SCHEMA
from deltaworks.api import cache_folder
from deltaworks.spark.session import open_session
from deltaworks.spark.settings import SparkSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def follow(servers: str, topic: str, table: str, most: str = "") -> None:
    """What people write: at least once, because a batch that is done again lands again."""
    from pyspark.sql.functions import col, from_json

    spark = open_session(SparkSettings(cache=cache_folder(os.environ), groups=frozenset({"delta", "kafka"})))

    def append(rows: DataFrame, _: int) -> None:
        rows.write.format("delta").mode("append").save(table)

    options = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}
    options |= {"maxOffsetsPerTrigger": most} if most else {}
    records = spark.readStream.format("kafka").options(**options).load()
    rows = records.select(from_json(col("value").cast("string"), SCHEMA).alias("row")).select("row.*")
    rows.writeStream.foreachBatch(append).option("checkpointLocation", f"{table}-checkpoint").start().awaitTermination()


# Not called main: `make bench` runs every file that has one.
if __name__ == "__main__":
    follow(*sys.argv[1:])
