"""The log store itself, called as Delta calls it, on a log in a bucket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError

from deltaworks.spark.logstore import CONDITIONAL_PUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession
    from tests.servers.s3 import S3Server

PART = 5 * 1024 * 1024  # bytes: the smallest part that S3 takes
WON = "won"
CONFLICT = "java.nio.file.FileAlreadyExistsException"


def s3a_conf(s3: S3Server, bucket: str) -> Mapping[str, str]:
    """What Hadoop must know about a bucket on the server; it gives up soon."""
    settings = {
        "endpoint": s3.endpoint,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "access.key": s3.owner.key,
        "secret.key": s3.owner.secret,
        "multipart.size": str(PART),
        "attempts.maximum": "1",
        "retry.limit": "2",
        "retry.interval": "10ms",
        "paging.maximum": "50",
    }
    return {f"fs.s3a.bucket.{bucket}.{key}": value for key, value in settings.items()}


@dataclass(frozen=True, slots=True)
class Log:
    """The log of a table, through one log store."""

    jvm: Any
    conf: Any
    folder: str
    store: Any

    def path(self, name: str) -> Any:
        """A file of the log."""
        return self.jvm.org.apache.hadoop.fs.Path(f"{self.folder}/{name}")

    def write(self, name: str, lines: Iterable[str], *, overwrite: bool = False) -> None:
        """Write a file of the log."""
        self.write_from(self.jvm.java.util.ArrayList(list(lines)).iterator(), name, overwrite=overwrite)

    def write_from(self, lines: Any, name: str, *, overwrite: bool = False) -> None:
        """Write a file of the log from an iterator in Java."""
        self.store.write(self.path(name), lines, overwrite, self.conf)

    def read(self, name: str) -> list[str]:
        """The lines of a file."""
        return list(_all(self.store.read(self.path(name), self.conf)))

    def names_from(self, name: str) -> list[str]:
        """What the log store lists."""
        return [file.getPath().getName() for file in _all(self.store.listFrom(self.path(name), self.conf))]

    def files(self) -> list[str]:
        """What is in the log, without asking the log store."""
        return [file.getPath().getName() for file in self.file_system.listStatus(self.path("."))]

    def pending_uploads(self) -> int:
        """How many uploads in several parts were begun and not ended."""
        return len(list(_all(self.file_system.listUploads(None))))

    @property
    def file_system(self) -> Any:
        """S3A as the log store uses it."""
        return self.path("0").getFileSystem(self.conf)


def log_in(bucket: str, s3: S3Server, spark: SparkSession) -> Log:
    """The log of a table in a bucket, through our log store."""
    jvm: Any = spark._jvm
    conf = jvm.org.apache.hadoop.conf.Configuration(spark._jsc.hadoopConfiguration())
    for key, value in s3a_conf(s3, bucket).items():
        conf.set(key, value)
    store = jvm.io.deltaworks.storage.ConditionalPutLogStore(conf)
    assert store.getClass().getName() == CONDITIONAL_PUT
    return Log(jvm, conf, f"s3a://{bucket}/t/_delta_log", store)


def refused(log: Log, name: str, lines: Iterable[str]) -> Any:
    """Write what cannot be written, and return Java's exception."""
    with pytest.raises(Py4JJavaError) as raised:
        log.write(name, lines)
    return raised.value.java_exception


def outcome(log: Log, name: str, lines: Iterable[str]) -> str:
    """Race for a file: won, or the class of Java's exception."""
    try:
        log.write(name, lines)
    except Py4JJavaError as error:
        return kind(error.java_exception)
    return WON


def kind(error: Any) -> str:
    """The class of a Java exception."""
    return str(error.getClass().getName())


def _all(iterator: Any) -> Any:
    while iterator.hasNext():
        yield iterator.next()
