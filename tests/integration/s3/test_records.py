"""Run records in a bucket, left by whole runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deltaworks.errors import DeltaworksError
from deltaworks.lake.folder import folder_at
from deltaworks.vault.storage import Sources, access_to

if TYPE_CHECKING:
    from tests.integration.s3.lake import Lake
    from tests.unit.cli.outcome import Cli

A = {"id": 1, "name": "a"}


def kept(lake: Lake, name: str) -> str:
    uri = lake.uri("runs")
    return folder_at(uri, access_to(uri, Sources(given=lake.s3.options()))).text(name)


@pytest.fixture(autouse=True)
def _project(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("deltaworks.yaml").write_text(f"runs: {{path: {lake.uri('runs', 's3')}, credentialId: lake}}\n")


def test_a_run_leaves_its_record_and_its_log_in_the_bucket(lake: Lake) -> None:
    lake.load([A], "in")

    result = lake.run(
        extract={"sourceType": "DeltaLake", "path": lake.uri("in"), "credentialId": "lake"}, load=lake.sink("t")
    )

    inside = f"orders/{result.run_id}"
    record: dict[str, Any] = json.loads(kept(lake, f"{inside}/manifest.json"))
    assert result.record == lake.uri(f"runs/{inside}")
    assert (record["status"], record["result"]["rows_inserted"]) == ("succeeded", 1)
    assert "load took" in kept(lake, f"{inside}/run.log")
    assert not (Path(".deltaworks")).exists()


def test_a_run_that_fails_leaves_why_in_the_bucket(lake: Lake) -> None:
    with pytest.raises(DeltaworksError, match="no Delta table") as caught:
        lake.run(
            extract={"sourceType": "DeltaLake", "path": lake.uri("nothing"), "credentialId": "lake"},
            load=lake.sink("t"),
        )

    assert caught.value.record is not None
    inside = caught.value.record.removeprefix(lake.uri("runs/"))
    assert json.loads(kept(lake, f"{inside}/manifest.json"))["status"] == "failed"


def test_the_records_are_listed_and_shown_by_the_command(lake: Lake, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "ACCESS_KEY_ID": lake.s3.owner.key,
        "SECRET_ACCESS_KEY": lake.s3.owner.secret,
        "ENDPOINT": lake.s3.endpoint,
    }
    for name, value in given.items():
        monkeypatch.setenv(f"DELTAWORKS_LAKE__{name}", value)
    lake.load([A], "in")
    result = lake.run(
        extract={"sourceType": "DeltaLake", "path": lake.uri("in"), "credentialId": "lake"}, load=lake.sink("t")
    )

    assert [run["run_id"] for run in cli("runs", "list", "--json").json] == [result.run_id]
    assert lake.uri(f"runs/orders/{result.run_id}") in cli("runs", "show", result.run_id).out
