"""Several writers on S3 are safe, or a load is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import deltaworks
from deltaworks.errors import RefusedError

if TYPE_CHECKING:
    from tests.integration.s3.lake import Lake
    from tests.servers.faults.client import Faults

A = {"id": 1, "name": "a"}


@pytest.fixture(autouse=True)
def _nothing_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_an_endpoint_that_ignores_the_condition_is_refused_before_a_row_is_written(shaky: Lake, faults: Faults) -> None:
    faults.add("ignore-condition", method="PUT", header="if-none-match", times=None)

    result = shaky.load([A], "t")

    assert not result.success
    assert "does not honour conditional put" in f"{result.error}"
    assert "singleDriver: true" in f"{result.hint}"
    assert not [path for path in (shaky.s3.folder / "data" / shaky.bucket).rglob("*") if path.is_file()]


def test_it_is_an_error_of_its_own_with_exit_code_4(shaky: Lake, faults: Faults) -> None:
    shaky.load([A], "in")
    faults.add("ignore-condition", method="PUT", header="if-none-match", times=None)
    source = {"sourceType": "DeltaLake", "path": shaky.uri("in"), "credentialId": "lake", "options": shaky.options}
    Path("cache/deltaworks/proofs.json").unlink()

    with pytest.raises(RefusedError) as caught:
        shaky.run(extract=source, load=shaky.sink("t"))

    assert caught.value.exit_code == 4


def test_one_who_says_that_nobody_else_writes_is_believed(shaky: Lake, faults: Faults) -> None:
    faults.add("ignore-condition", method="PUT", header="if-none-match", times=None)

    assert shaky.load([A], "t", singleDriver=True).success


def test_a_local_table_needs_no_proof(lake: Lake, tmp_path: Path) -> None:
    load = {"sinkType": "DeltaLake", "path": str(tmp_path / "t")}

    assert deltaworks.load(lake.spark.range(1), load, "Append").success
    assert not (tmp_path / "cache").exists()


def test_the_proof_is_made_once_and_remembered(shaky: Lake, faults: Faults) -> None:
    faults.add("pass", method="PUT", path="_deltaworks/probe", times=None)

    for name in ("t", "t", "u"):
        assert shaky.load([A], name).success

    assert len(faults.seen()) == 2
    assert replace(shaky).rows("t") == [A, A]
