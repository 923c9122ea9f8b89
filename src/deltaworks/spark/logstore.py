"""The log store that lets any number of writers commit to one table on S3: its jar, and which one is in force."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deltaworks.errors import SetupError
from deltaworks.spark.gateway import is_remote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

CONDITIONAL_PUT = "io.deltaworks.storage.ConditionalPutLogStore"
SINGLE_DRIVER = "io.delta.storage.S3SingleDriverLogStore"  # Delta's own choice: safe for one driver only
WHOLE_FILES = "io.deltaworks.storage.WholeFiles"
FILE_SYSTEM = "spark.hadoop.fs.s3.impl"
# Spark asks Hadoop's configuration for it, which only the making of a session fills: a session that was there
# before has no class of ours, and is not told of one.
FILE_MANAGER = "spark.hadoop.spark.sql.streaming.checkpointFileManagerClass"

# Where Delta looks, whichever of them is set: for one scheme or for all, and each in two spellings.
_KEYS = tuple(f"{spark}delta.logStore.{key}" for key in ("s3a.impl", "class") for spark in ("spark.", ""))
_BY_SCHEME = "org.apache.spark.sql.delta.storage.DelegatingLogStore"


def logstore_jar() -> Path:
    """Return the jar that came with this package."""
    jar = Path(__file__).with_name("logstore.jar")
    if not jar.is_file():
        raise SetupError(
            f"{jar} is missing: without it only one writer at a time is safe on S3.",
            hint="Install Deltaworks again; in a clone of its source, run `make setup`.",
        )
    return jar


def log_store_conf() -> Mapping[str, str]:
    """Spell, for the making of a session, that tables on S3 are committed to by conditional put."""
    stores = {f"spark.delta.logStore.{scheme}.impl": CONDITIONAL_PUT for scheme in ("s3a", "s3")}
    return {**stores, FILE_SYSTEM: "org.apache.hadoop.fs.s3a.S3AFileSystem"}


def log_store_in_force(spark: SparkSession) -> str:
    """Name the class through which this session commits to tables on `s3a`.

    Delta asks the context, which nothing changes once it runs. `spark.conf.set` changes the session only, and
    Delta never looks there. What a Spark Connect server's context says can only be read from its session.
    """
    # Not getConf(), which fetches every setting one by one.
    conf = spark.conf if is_remote(spark) else spark.sparkContext._conf
    named = next(filter(None, (conf.get(key, None) for key in _KEYS)), None)
    return SINGLE_DRIVER if named in (None, _BY_SCHEME) else str(named)
