"""One side of the race from PostgreSQL, in a process of its own: prints how long the load took, its session apart.

python -m bench.postgres_side plain|pipeline < PLACE
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import deltaworks
from bench.side import plain_session
from bench.timing import elapsed
from deltaworks.api import cache_folder
from deltaworks.spark.session import open_session
from deltaworks.spark.settings import SparkSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def by_hand(spark: SparkSession, place: dict[str, Any], table: str) -> None:
    """What people write first."""
    url = f"jdbc:postgresql://{place['host']}:{place['port']}/{place['database']}?sslmode=disable"
    login = {"user": place["user"], "password": place["password"], "driver": "org.postgresql.Driver"}
    rows = spark.read.format("jdbc").options(url=url, dbtable="orders", **login).load()
    rows.write.format("delta").mode("overwrite").save(table)


def by_pipeline(spark: SparkSession, place: dict[str, Any], table: str) -> None:
    """The same as a pipeline, with its checks, its record and its reading back."""
    credential = {name: str(value) for name, value in place.items() if name != "folder"}
    config = {
        "pipelineId": "bench",
        "extract": {
            "sourceType": "PostgreSQL",
            "credentialId": "pg",
            "connectionParams": {"table": "orders", "sslMode": "disable"},
        },
        "load": {"sinkType": "DeltaLake", "path": table},
        "writeMode": "Overwrite",
    }
    deltaworks.run(config, spark=spark, vault=deltaworks.MemoryVault({"pg": credential}))


def seconds(how: str) -> float:
    """Load once, into a table that is then removed."""
    place = json.load(sys.stdin)
    table = f"{place['folder']}/{how}"
    os.chdir(place["folder"])
    if how == "plain":
        # With Spark's own gigabyte it would mostly collect garbage: the driver keeps the whole table in memory.
        session = plain_session("org.postgresql:postgresql:42.7.8", **{"spark.driver.memory": "8g"})
        took = elapsed(partial(by_hand, session, place, table))
    else:
        groups = frozenset({"delta", "postgres"})
        session = open_session(SparkSettings(cache=cache_folder(os.environ), groups=groups))
        took = elapsed(partial(by_pipeline, session, place, table))
    shutil.rmtree(table)
    return took


# Not called main: `make bench` runs every file that has one.
if __name__ == "__main__":
    print(seconds(sys.argv[1]))
