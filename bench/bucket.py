"""An S3 server for one measurement, and the sessions that use it."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.servers.keeper import Run
from tests.servers.s3 import s3_server

from deltaworks.api import cache_folder
from deltaworks.spark.logstore import FILE_MANAGER, FILE_SYSTEM, log_store_conf
from deltaworks.spark.session import open_session, warm_up
from deltaworks.spark.settings import SparkSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket on a server that ends with this process."""

    name: str
    options: dict[str, str]  # as environment variables and as delta-rs's options alike

    def uri(self, table: str) -> str:
        """Where a table is."""
        return f"s3a://{self.name}/{table}"


@contextmanager
def buckets(*names: str) -> Iterator[tuple[Bucket, ...]]:
    """Buckets on a server of their own."""
    with tempfile.TemporaryDirectory(prefix="deltaworks-bench-") as scratch:
        server = s3_server(Run(Path(scratch) / "servers", os.getpid()))
        yield tuple(Bucket(server.bucket(name), server.options()) for name in names)


@contextmanager
def bucket() -> Iterator[Bucket]:
    """A bucket on a server of its own."""
    with buckets("lake") as (one,):
        yield one


def session(*, default_log_store: bool) -> SparkSession:
    """A session as deltaworks opens it, or the same with the log store that Delta itself would take."""
    settings = SparkSettings(cache=cache_folder(os.environ), groups=frozenset({"delta", "s3"}))
    starting = warm_up(settings)
    if default_log_store:
        ours = {*log_store_conf(), FILE_MANAGER} - {FILE_SYSTEM}
        plain = {key: value for key, value in starting.conf.items() if key not in ours}
        starting = replace(starting, conf=plain)
    return open_session(starting)
