"""Small files beside the log, on a real S3 server: one put each, whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError
from tests.integration.java.logs import PART

from deltaworks.spark.logstore import WHOLE_FILES

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.integration.java.logs import Log
    from tests.servers.faults.client import Faults

NAME = "00000000000000000000.crc"


def files(log: Log) -> Any:
    """What Spark makes where it needs such files, for the folder of the log."""
    log.conf.set("spark.sql.streaming.checkpointFileManagerClass", WHOLE_FILES)
    manager = log.jvm.org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
    return manager.create(log.path(NAME).getParent(), log.conf)


def written(log: Log, text: bytes, *, overwrite: bool = False) -> Any:
    stream = files(log).createAtomic(log.path(NAME), overwrite)
    stream.write(bytearray(text))
    return stream


def test_a_file_is_one_conditional_put_and_nothing_else(log: Log, faults: Faults) -> None:
    faults.add("pass", method="PUT", header=r"If-None-Match: ^\*$")
    faults.add("pass", times=None)

    written(log, b"ours").close()

    assert [(seen.method, seen.path) for seen in faults.seen()] == [("PUT", f"/{faults.bucket}/t/_delta_log/{NAME}")]
    assert log.read(NAME) == ["ours"]


def test_a_file_that_is_there_is_left_alone_and_told_as_spark_expects_it(log: Log) -> None:
    written(log, b"theirs").close()

    with pytest.raises(Py4JJavaError) as caught:
        written(log, b"ours").close()

    assert caught.value.java_exception.getClass().getName() == "org.apache.hadoop.fs.FileAlreadyExistsException"
    assert log.read(NAME) == ["theirs"]


def test_our_own_file_is_not_taken_for_anothers_when_the_reply_was_lost(log: Log, faults: Faults) -> None:
    faults.add("lost", method="PUT")

    written(log, b"ours").close()

    assert log.read(NAME) == ["ours"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_that_is_cancelled_leaves_nothing(log: Log, overwrite: bool) -> None:
    stream = written(log, b"x" * (PART + 1), overwrite=overwrite)
    stream.cancel()
    stream.close()  # as Spark does to the stream around it

    log.write("another.json", ["{}"])
    assert log.files() == ["another.json"]
    assert log.pending_uploads() == 0


def test_a_file_that_may_be_replaced_is(log: Log) -> None:
    for text in (b"1", b"2"):
        written(log, text, overwrite=True).close()

    assert log.read(NAME) == ["2"]


def test_elsewhere_all_is_as_spark_has_it(spark: SparkSession, tmp_path: Path) -> None:
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(f"{tmp_path}/state/offsets")
    found = jvm.io.deltaworks.storage.WholeFiles(path, spark._jsc.hadoopConfiguration())
    found.mkdirs(path)
    stream = found.createAtomic(jvm.org.apache.hadoop.fs.Path(path, "0"), False)
    stream.write(bytearray(b"whole"))

    assert [file.name for file in (tmp_path / "state/offsets").iterdir()] != ["0"]  # under another name until then
    stream.close()
    assert (tmp_path / "state/offsets/0").read_bytes() == b"whole"
    assert (found.exists(path), found.isLocal()) == (True, True)
    found.delete(path)
    assert not (tmp_path / "state/offsets").exists()
