"""Make the class-data archive: do once, in a throw-away session, what pipelines do, and keep the classes it took.

Run as `python -m deltaworks.spark.training CACHE [JAVA_HOME]`, detached, after a run that succeeded.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from deltaworks.spark.archive import prune
from deltaworks.spark.session import archive_of, close_session, isolated, open_session, warm_up
from deltaworks.spark.settings import SparkSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def main(cache: str, java_home: str = "") -> None:
    """Make the archive for the jars in this cache, unless it is there or being made."""
    os.nice(10)
    make(SparkSettings(cache=Path(cache), java_home=java_home or None))


def make(settings: SparkSettings) -> None:
    """Make the archive for these settings and put it in place."""
    archive = archive_of(settings)
    with archive.making() as draft:
        if draft is None or archive.ready():
            return
        _train(settings, draft)
        if draft.exists():
            archive.keep(draft)
    prune(archive.folder.parent)


def _train(settings: SparkSettings, draft: Path) -> None:
    starting = warm_up(settings, record=draft)
    assert starting.jvm is not None
    spark = open_session(starting)
    with tempfile.TemporaryDirectory(prefix="deltaworks-training-") as folder:
        exercise(isolated(spark), Path(folder))
        close_session(spark)
        starting.jvm.process.wait()  # the archive is written while it exits


def exercise(spark: SparkSession, folder: Path) -> None:
    """Touch what pipelines touch: files in, Delta append, overwrite, merge and history."""
    csv, table = str(folder / "rows.csv"), f"delta.`{folder / 'table'}`"
    Path(csv).write_text("id,name,amount\n1,a,1.5\n2,b,2.5\n", encoding="utf-8")
    rows = (
        spark.read.csv(csv, header=True, inferSchema=True)
        .where("id > 0")
        .selectExpr("cast(id AS bigint) AS id", "name", "amount")
    )
    rows.write.format("delta").option("mergeSchema", "true").save(str(folder / "table"))
    rows.dropDuplicates(["id"]).write.json(str(folder / "json"))
    rows.write.format("delta").mode("overwrite").save(str(folder / "table"))
    merge = f"MERGE INTO {table} AS t USING {{incoming}} AS s ON t.id <=> s.id"
    spark.sql(f"{merge} WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *", incoming=rows)
    spark.sql(f"SELECT name, sum(amount) FROM {table} GROUP BY name").collect()
    spark.sql(f"DESCRIBE HISTORY {table}").collect()


if __name__ == "__main__":
    main(*sys.argv[1:])
