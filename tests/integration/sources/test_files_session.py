"""Files, and Kafka, in a session that lacks jars, by a user who lacks rights: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# What lets root read everything.
RIGHTS = "-dac_override,-dac_read_search"
WITHOUT = ["setpriv", f"--bounding-set={RIGHTS}", f"--inh-caps={RIGHTS}"] if os.geteuid() == 0 else []
CODE = """
import os
import deltaworks
from deltaworks.api import cache_folder
from deltaworks.errors import DeltaworksError
from deltaworks.spark.errors import explained
from deltaworks.spark.kafka.session import newer, with_jars
from deltaworks.spark.session import close_session, open_session
from deltaworks.spark.settings import SparkSettings

conf = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1", "spark.driver.memory": "1g"}
spark = open_session(SparkSettings(cache=cache_folder(os.environ), master="local[2]", conf=conf))

def extract(kind, path, **params):
    try:
        with explained("load"):
            config = {"sourceType": "File", "connectionParams": {"format": kind, "path": path, **params}}
            deltaworks.extract(config, spark=spark).collect()
    except DeltaworksError as error:
        print(type(error).__name__, error, "|", error.hint)

extract("avro", "in")
sink = {"sinkType": "File", "connectionParams": {"format": "avro", "path": "out"}}
result = deltaworks.load(spark.range(1), sink, "Append")
print(result.error, "|", result.hint)
extract("csv", "in")
extract("csv", "in", schema="id STRING")
extract("csv", "closed")
for act in (spark.read.format("kafka").load, spark.range(1).write.format("kafka").save):
    try:
        with newer(spark), with_jars():
            act()
    except DeltaworksError as error:
        print(type(error).__name__, error, "|", error.hint)
close_session(spark)
"""
JAR = "org.apache.spark:spark-avro_2.13:4.1.1"
KAFKA = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.1"


def test_a_missing_jar_and_files_that_may_not_be_read_are_named(tmp_path: Path) -> None:
    for name in ("in/a.csv", "in/b.csv", "closed/a.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1\n")
    (tmp_path / "in/b.csv").chmod(0)
    (tmp_path / "closed").chmod(0)

    done = subprocess.run(
        [*WITHOUT, sys.executable, "-c", CODE],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    (tmp_path / "closed").chmod(0o700)
    assert done.returncode == 0, done.stderr
    source, sink, inferred, given, closed, *kafka = done.stdout.splitlines()
    assert source.startswith("SetupError extract: This session cannot read or write avro files: it lacks a jar.")
    assert sink.startswith("load: This session cannot read or write avro files")
    assert JAR in source
    assert JAR in sink
    assert not (tmp_path / "out").exists()
    for line in (inferred, given):
        assert line.startswith("SetupError ")
        assert f"{tmp_path}/in/b.csv may not be read." in line
    assert closed.startswith("UnreachableError ")
    assert "closed cannot be reached: Permission denied" in closed
    assert len(kafka) == 2
    for line in kafka:
        assert line.startswith("SetupError This session cannot read or write Kafka: it lacks jars. | ")
        assert KAFKA in line
