"""New files of a bucket, each read once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from deltaworks import failpoints
from deltaworks.errors import DeltaworksError, RefusedError, RunError
from deltaworks.lake.folder import folder_at
from deltaworks.vault.storage import Sources, access_to

if TYPE_CHECKING:
    from tests.integration.s3.lake import Lake
    from tests.servers.faults.client import Faults

    from deltaworks.lake.folder import Folder
    from deltaworks.runs.result import RunResult


def inbox(lake: Lake) -> Folder:
    return folder_at(lake.uri("in"), access_to(lake.uri("in"), Sources(given=lake.s3.options())))


def put(lake: Lake, name: str, *ids: int) -> None:
    inbox(lake).write(name, "".join(json.dumps({"id": each}) + "\n" for each in ids).encode())


def run(lake: Lake, path: str = "in", scheme: str = "s3a", **how: Any) -> RunResult:
    extract = {
        "sourceType": "S3",
        "credentialId": "lake",
        "connectionParams": {"format": "json", "path": lake.uri(path, scheme), "schema": how.pop("schema", "id INT")},
        "options": lake.options,
        "incremental": how.pop("incremental", True),
    }
    return lake.run(extract=extract, load=lake.sink("t", **how.pop("load", {})), **how)


def landed(lake: Lake) -> list[Any]:
    return sorted(row["id"] for row in lake.rows("t"))


def test_each_file_of_a_bucket_lands_once(lake: Lake) -> None:
    for number, name in enumerate(("a.json", "b c%20[1]{x}.json", "ü.json")):
        put(lake, name, number)
        put(lake, f"_hidden-{number}", 99)
        assert run(lake, scheme="s3" if number else "s3a").load.rows_inserted == 1

    again = run(lake)

    assert (again.load.batches, landed(lake)) == (0, [0, 1, 2])
    assert again.standing
    assert again.standing.position.startswith("3 files, the newest of 20")


def test_a_pattern_partitions_and_batches_work_in_a_bucket(lake: Lake) -> None:
    for day in ("1", "2", "3"):
        put(lake, f"2024/day={day}/a.json", int(day))
    put(lake, "2023/day=1/a.json", 9)
    put(lake, "2024-not/a.json", 9)

    how: dict[str, Any] = {"schema": "id INT, day STRING", "incremental": {"maxFilesPerBatch": 2}}
    result = run(lake, "in/202[4]", **how)

    assert result.load.batches == 2
    assert lake.rows("t") == [{"id": int(day), "day": day} for day in "123"]


def test_one_file_is_followed_by_its_name(lake: Lake) -> None:
    assert run(lake, "in/a.json").load.batches == 0
    put(lake, "a.json", 1)
    put(lake, "a.json2", 2)

    run(lake, "in/a.json")

    assert landed(lake) == [1]


def test_a_file_counts_as_changed_when_what_is_in_it_changed(lake: Lake) -> None:
    put(lake, "a.json", 1)
    run(lake)
    put(lake, "a.json", 1)  # the same again
    assert run(lake).load.batches == 0
    put(lake, "a.json", 2)  # as long

    with pytest.raises(RefusedError, match=r"Files have changed since they were read: s3a://.*/in/a\.json"):
        run(lake)
    run(lake, incremental={"onChanged": "reread"})

    assert landed(lake) == [1, 2]


def test_a_file_of_a_bucket_that_changes_while_it_is_read_fails_the_batch(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(lake, "a.json", 1)
    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "reach", lambda name: put(lake, "a.json", 2) if name == "before_batch" else None)
        with pytest.raises(RunError, match=r"Files changed or went while they were read: .*in/a\.json"):
            run(lake)

    run(lake)

    assert landed(lake) == [2]


def test_a_list_that_cannot_be_written_lets_nothing_land(shaky: Lake, faults: Faults) -> None:
    put(shaky, "a.json", 1)
    faults.add("denied", method="PUT", path=r"t/_deltaworks/orders/files/", times=None)
    with pytest.raises(DeltaworksError, match="cannot be reached"):
        run(shaky)
    faults.clear()

    run(shaky)

    assert landed(shaky) == [1]


def test_a_list_of_a_bucket_that_is_lost_stops_the_pipeline(lake: Lake) -> None:
    put(lake, "a.json", 1)
    run(lake)
    table = lake.table("t").log.folder
    for name in table.names("_deltaworks/orders/files"):
        table.remove(f"_deltaworks/orders/files/{name}")

    with pytest.raises(RefusedError, match="Which files were read already is not known"):
        run(lake)
    assert landed(lake) == [1]
