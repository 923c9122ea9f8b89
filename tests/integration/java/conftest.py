"""What the tests of our Java share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.java.logs import log_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession
    from tests.integration.java.logs import Log
    from tests.servers.faults.client import Faults


@pytest.fixture
def log(spark: SparkSession, bucket: str, faults: Faults) -> Iterator[Log]:
    """The log of a table, by way of the proxy."""
    log = log_in(bucket, faults.s3, spark)
    yield log
    log.file_system.close()
