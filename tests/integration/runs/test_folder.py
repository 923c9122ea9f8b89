"""Run records in a bucket, on a real server."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.unit.runs.records import record

from deltaworks.lake.folder import folder_at
from deltaworks.runs.folder import SILENCE, RunFolder
from deltaworks.runs.process import Process
from deltaworks.runs.record import Status
from deltaworks.vault.storage import Sources, access_to

if TYPE_CHECKING:
    from tests.servers.s3 import S3Server

ELSEWHERE = replace(Process.current(), machine="elsewhere")


@pytest.fixture
def runs(s3: S3Server, bucket: str) -> RunFolder:
    uri = f"s3a://{bucket}/runs"
    return RunFolder(folder_at(uri, access_to(uri, Sources(given=s3.options()))))


def test_records_are_kept_found_and_listed(runs: RunFolder) -> None:
    runs.save(record("1-a").interrupted())
    runs.save(record("2-b", pipeline_id="returns"))

    assert [found.run_id for found in runs.newest()] == ["2-b", "1-a"]
    assert [found.run_id for found in runs.newest(pipeline="orders")] == ["1-a"]
    assert runs.find("2").pipeline_id == "returns"
    assert runs.of(record("1-a")) == f"{runs.uri}/orders/1-a"


@pytest.mark.parametrize(
    ("silent", "status"),
    [(SILENCE * 0.5, Status.RUNNING), (SILENCE * 1.5, Status.INTERRUPTED)],
    ids=["beats", "silent"],
)
def test_a_run_of_another_machine_lives_as_long_as_its_heart_beats(
    runs: RunFolder, s3: S3Server, bucket: str, silent: object, status: Status
) -> None:
    runs.save(record(process=ELSEWHERE))
    [marker] = (s3.folder / "data" / bucket / "runs/.running").iterdir()
    beat = marker.stat().st_mtime - silent.total_seconds()  # type: ignore[attr-defined]
    os.utime(marker, (beat, beat))

    runs.close_interrupted()

    assert runs.find(record().run_id).status is status
    assert len(runs.folder.names(".running")) == (status is Status.RUNNING)
