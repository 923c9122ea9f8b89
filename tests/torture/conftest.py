from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.torture.buckets import into_bucket
from tests.torture.case import Case
from tests.torture.streams import DatabaseStream, KafkaStream, TableStream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.servers.faults.client import Faults
    from tests.torture.streams import Stream


@pytest.fixture
def case(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> Case:
    """A pipeline from a source, in a mode."""
    source, mode = request.param
    monkeypatch.chdir(tmp_path)
    return Case(spark, _stream(request, source, mode, tmp_path), mode, tmp_path, record_property)


@pytest.fixture
def shaky(case: Case, faults: Faults) -> Case:
    """The same into a bucket, behind a proxy that fails on request."""
    return into_bucket(case, faults.s3, faults.bucket)


def _stream(request: pytest.FixtureRequest, source: str, mode: str, folder: Path) -> Stream:
    if source == "kafka":
        return KafkaStream(request.getfixturevalue("topic"))
    if source == "postgres":
        return DatabaseStream(request.getfixturevalue("pg"))
    return TableStream(folder / "in", feed=mode != "Overwrite")  # of a feed's changes, none is a whole partition
