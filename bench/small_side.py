"""One side of the race of small batches, in a process of its own: reads a Delta table file by file to its end.

python -m bench.small_side hand|deltaworks SOURCE TABLE [SOURCE TABLE …]
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import deltaworks
from bench.side import own_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def by_hand(spark: SparkSession, source: str, table: str) -> None:
    """What people write: at least once, because a batch that is done again lands again."""

    def append(rows: DataFrame, _: int) -> None:
        rows.write.format("delta").mode("append").save(table)

    rows = spark.readStream.format("delta").option("maxFilesPerTrigger", 1).load(source)
    writer = rows.writeStream.foreachBatch(append).option("checkpointLocation", f"{table}-checkpoint")
    writer.trigger(availableNow=True).start().awaitTermination()


def by_pipeline(spark: SparkSession, source: str, table: str) -> None:
    """The same as a pipeline: every batch once, its position in its commit, each commit read back."""
    extract = {
        "sourceType": "DeltaLake",
        "connectionParams": {"path": source},
        "incremental": {"maxFilesPerBatch": 1},
    }
    load = {"sinkType": "DeltaLake", "connectionParams": {"path": table}}
    deltaworks.run({"pipelineId": "bench", "extract": extract, "load": load, "writeMode": "Append"}, spark=spark)


# Not called main: `make bench` runs every file that has one.
if __name__ == "__main__":
    how, *places = sys.argv[1:]
    os.chdir(Path(places[1]).parent)
    session = own_session()
    for source, table in zip(places[::2], places[1::2], strict=True):
        {"hand": by_hand, "deltaworks": by_pipeline}[how](session, source, table)
    os._exit(0)  # nobody waits for Spark's end
