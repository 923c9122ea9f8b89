"""Several writers of one table in a bucket: two Spark drivers and two delta-rs writers, each a process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from bench.bucket import Bucket
from bench.writer import by_spark, rows
from bench.writers import at_once, compared, several
from deltalake import write_deltalake

if TYPE_CHECKING:
    import pytest
    from tests.integration.s3.lake import Lake

COMMITS = 5


def test_every_acknowledged_row_of_four_writers_is_there_once(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    place, uri = Bucket(lake.bucket, lake.s3.options()), lake.uri("t")
    write_deltalake(uri, rows("first", 0), storage_options=lake.s3.options())
    for name, value in lake.s3.options().items():
        monkeypatch.setenv(name, value)
    ours = by_spark(lake.spark)

    with several(place, ["spark", "delta-rs", "delta-rs"]) as writers, ThreadPoolExecutor(1) as pool:
        mine = pool.submit(lambda: [seq for seq in range(COMMITS) if ours(uri, "here", seq)])
        landed = at_once(writers, uri, COMMITS) | {"here": mine.result()}

    found = compared(place, "t", landed)
    assert found == {"acknowledged": 4 * COMMITS, "kept": 4 * COMMITS, "twice": 0, "whole": True}
    assert lake.table("t").version == 4 * COMMITS
    assert len(lake.rows("t")) == (4 * COMMITS + 1) * 10
