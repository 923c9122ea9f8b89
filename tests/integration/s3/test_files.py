"""Files in a bucket, read and written by pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import collected, frame

import deltaworks
from deltaworks.errors import ConfigError, DeltaworksError
from deltaworks.lake.folder import folder_at
from deltaworks.vault.storage import Sources, access_to

if TYPE_CHECKING:
    from tests.integration.s3.lake import Lake
    from tests.servers.faults.client import Faults

    from deltaworks.lake.folder import Folder
    from deltaworks.runs.result import LoadResult

ROWS = [{"id": 1, "name": "a b"}, {"id": 2, "name": "ü"}]
FORMATS = {
    "csv": {"header": True, "inferSchema": True},
    "json": {},
    "parquet": {},
    "avro": {},
}


def write(lake: Lake, rows: list[dict[str, Any]], kind: str, mode: str = "Append", **params: Any) -> LoadResult:
    params = {"format": kind, "path": lake.uri("out"), **params}
    options = {**lake.options, **({"header": True} if kind == "csv" else {})}
    sink = {"sinkType": "S3", "credentialId": "lake", "connectionParams": params, "options": options}
    return deltaworks.load(frame(lake.spark, *rows), sink, mode, vault=lake.vault)


def read(lake: Lake, kind: str, path: str = "out", options: dict[str, Any] | None = None, **params: Any) -> Any:
    params = {"format": kind, "path": lake.uri(path), **params}
    config = {"sourceType": "S3", "credentialId": "lake", "connectionParams": params, "options": options or {}}
    return collected(deltaworks.extract(config, spark=lake.spark, vault=lake.vault))


def there(lake: Lake) -> Folder:
    return folder_at(lake.uri("out"), access_to(lake.uri("out"), Sources(given=lake.s3.options())))


@pytest.mark.parametrize("kind", FORMATS)
def test_rows_come_back_from_files_of_every_format(lake: Lake, kind: str) -> None:
    for _ in range(2):
        result = write(lake, ROWS, kind)
        assert result.success, result.error

    assert read(lake, kind, options=FORMATS[kind]) == sorted(ROWS * 2, key=str)
    assert result.rows_written == 2


def test_a_schema_compression_and_partitions_work_in_a_bucket(lake: Lake) -> None:
    result = write(lake, ROWS, "csv", compression="gzip", partitionBy="name")

    assert result.success, result.error
    assert all(name.endswith(".csv.gz") for name in there(lake).files() if "part-" in name)
    schema = "id BIGINT, name STRING"
    assert read(lake, "csv", options={"header": True}, schema=schema) == ROWS


def test_a_pattern_selects_files_in_a_bucket(lake: Lake) -> None:
    folder = there(lake)
    for name in ("2024-01/a.json", "2024-02/a.json", "2024-02/b.json", "2023-01/a.json"):
        folder.write(name, f'{{"name": "{name}"}}\n'.encode())

    found = [row["name"] for row in read(lake, "json", "out/2024-*/{a,c}.json")]

    assert found == ["2024-01/a.json", "2024-02/a.json"]


def test_files_are_replaced(lake: Lake) -> None:
    write(lake, ROWS, "json", partitionBy="name")

    assert write(lake, ROWS[:1], "json", "Overwrite").success

    assert read(lake, "json") == ROWS[:1]
    assert not [name for name in there(lake).files() if "_deltaworks" in name]


@pytest.mark.parametrize("path", [r"out/_deltaworks/.*part-", r"out/part-"], ids=["writing", "placing"])
def test_a_replacement_that_fails_leaves_the_old_files(shaky: Lake, faults: Faults, path: str) -> None:
    write(shaky, ROWS, "json")
    before = there(shaky).files()
    faults.add("denied", method="PUT", path=path, times=None)

    result = write(shaky, ROWS[:1], "json", "Overwrite")

    assert not result.success
    faults.clear()
    assert [name for name in there(shaky).files() if not name.startswith("_deltaworks")] == before
    assert read(shaky, "json") == ROWS


def test_an_upsert_into_files_is_refused(lake: Lake) -> None:
    result = write(lake, ROWS, "json", "Upsert")

    assert not result.success
    assert "Files cannot be upserted" in f"{result.error}"


@pytest.mark.parametrize("kind", FORMATS)
def test_a_bucket_without_such_files_is_a_clear_error(lake: Lake, kind: str) -> None:
    with pytest.raises(ConfigError, match="There is nothing to read"):
        read(lake, kind, options=FORMATS[kind])


def test_a_secret_that_is_wrong_is_a_clear_error(lake: Lake) -> None:
    keys = {"access_key_id": lake.s3.owner.key, "secret_access_key": "wrong", "endpoint": lake.s3.endpoint}
    config = {
        "sourceType": "S3",
        "credentialId": "lake",
        "path": lake.uri("out"),
        "connectionParams": {"format": "json"},
    }

    with pytest.raises(DeltaworksError) as caught:
        deltaworks.extract(config, spark=lake.spark, vault=deltaworks.MemoryVault({"lake": keys}))

    assert str(caught.value) == "extract: S3 said: Forbidden"
    assert "keys are wrong" in caught.value.hint


def test_a_pipeline_from_files_to_a_table_in_one_bucket(lake: Lake) -> None:
    write(lake, ROWS, "avro")

    result = lake.run(
        extract={
            "sourceType": "S3",
            "credentialId": "lake",
            "path": lake.uri("out"),
            "connectionParams": {"format": "avro"},
        },
        load=lake.sink("t"),
    )

    assert result.load.rows_inserted == 2
    assert lake.rows("t") == ROWS
