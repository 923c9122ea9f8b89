from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.s3.lake import lake_on

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.integration.s3.lake import Lake
    from tests.servers.faults.client import Faults
    from tests.servers.s3 import S3Server


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def lake(spark: SparkSession, s3: S3Server, bucket: str) -> Lake:
    """A bucket of this test alone."""
    return lake_on(spark, s3, bucket)


@pytest.fixture
def shaky(spark: SparkSession, faults: Faults, bucket: str) -> Lake:
    """The same, by way of the proxy that fails on request, with a client that tries again soon."""
    quick = {"fs.s3a.retry.interval": "20ms", "fs.s3a.retry.throttle.interval": "20ms"}
    return lake_on(spark, faults.s3, bucket, **quick)
