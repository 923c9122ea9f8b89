"""S3 on a bad day: what was acknowledged is there once, and what failed says why and can be run again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.integration.s3.lake import Lake
    from tests.servers.faults.client import Faults

COMMIT = r"_delta_log/\d{20}\.json"
A, B = {"id": 1, "name": "a"}, {"id": 2, "name": "b"}
LOADS = {
    "append": ("Append", {}, [("insert", 1), ("insert", 1)], [A, A]),
    "overwrite": ("Overwrite", {}, [("delete", 1), ("insert", 1), ("insert", 1)], [A]),
    "merge": (
        "Upsert",
        {"mergeKeys": "id"},
        [("insert", 1), ("update_postimage", 1), ("update_preimage", 1)],
        [A],
    ),
}


def versions(lake: Lake, name: str) -> int:
    return lake.table(name).version


@pytest.mark.parametrize("kind", ["lost", "lost-500"])
@pytest.mark.parametrize("load", LOADS)
def test_a_lost_acknowledgement_gives_one_version_no_error_and_one_change(
    shaky: Lake, faults: Faults, load: str, kind: Any
) -> None:
    mode, params, changes, rows = LOADS[load]
    shaky.load([A], "t", enableChangeDataFeed=True)
    faults.add(kind, method="PUT", path=COMMIT)

    result = shaky.load([A], "t", mode, **params)

    assert result.success, result.error
    assert [seen.kind for seen in faults.seen()] == [kind]
    assert (result.version, versions(shaky, "t")) == (1, 1)
    assert shaky.rows("t") == rows
    assert shaky.changes("t") == changes


@pytest.mark.parametrize("kind", ["reset", "lost-500"])
def test_a_lost_acknowledgement_of_an_optimize_gives_one_version(shaky: Lake, faults: Faults, kind: Any) -> None:
    for row in (A, B):
        shaky.load([row], "t", enableChangeDataFeed=True)
    faults.add(kind, method="PUT", path=COMMIT, after=1)

    result = shaky.run(
        extract={"sourceType": "DeltaLake", "path": shaky.uri("t"), "credentialId": "lake", "options": shaky.options},
        transform=[{"type": "withColumn", "parameters": {"name": "id", "expression": "id + 2"}}],
        load={**shaky.sink("t"), "after": {"optimize": True}},
    )

    assert [seen.kind for seen in faults.seen() if seen.kind != "pass"] == [kind]
    assert [(step.success, step.version) for step in result.after] == [(True, 3)]
    assert versions(shaky, "t") == 3
    assert shaky.changes("t") == [("insert", each) for each in (1, 2, 3, 4)]


MOMENTS = [
    *[("PUT", COMMIT, kind) for kind in ("500", "503", "cut-request", "slow", "conflict")],
    *[("PUT", "parquet", kind) for kind in ("500", "cut")],
    *[("GET", "", kind) for kind in ("503", "cut", "slow-body")],
]


@pytest.mark.parametrize(("method", "path", "kind"), MOMENTS)
def test_a_bad_moment_is_ridden_out(shaky: Lake, faults: Faults, method: str, path: str, kind: Any) -> None:
    shaky.load([A], "t")
    faults.add(kind, method=method, path=path, times=2, seconds=0.2)

    result = shaky.load([B], "t")

    assert result.success, result.error
    faults.clear()
    assert versions(shaky, "t") == 1
    assert shaky.rows("t") == [A, B]


@pytest.mark.parametrize(("kind", "path"), [("expired", "parquet"), ("expired", COMMIT), ("expired-400", COMMIT)])
def test_an_expired_credential_stops_cleanly_and_the_next_run_succeeds(
    shaky: Lake, faults: Faults, kind: Any, path: str
) -> None:
    shaky.load([A], "t")
    faults.add(kind, method="PUT", path=path, times=None)

    result = shaky.load([B], "t")

    assert not result.success
    assert "xpired" in f"{result.error}"
    assert "Renew the credential" in f"{result.hint}"
    faults.clear()
    assert (versions(shaky, "t"), shaky.rows("t")) == (0, [A])
    assert shaky.load([B], "t").success
    assert shaky.rows("t") == [A, B]


@pytest.mark.parametrize("kind", ["500", "503"])
def test_storage_that_stays_bad_fails_within_bounds_and_leaves_the_table_as_it_was(
    shaky: Lake, faults: Faults, kind: Any
) -> None:
    shaky.options.update({"fs.s3a.retry.limit": 2, "fs.s3a.retry.throttle.limit": 2})
    shaky.load([A], "t")
    faults.add(kind, method="PUT", times=None)

    result = shaky.load([B], "t")

    assert not result.success
    assert "S3 said" in f"{result.error}"
    faults.clear()
    assert (versions(shaky, "t"), shaky.rows("t")) == (0, [A])
    assert shaky.load([B], "t").success


def test_a_request_that_is_never_answered_is_sent_again(
    shaky: Lake, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    shaky.options.update({"fs.s3a.connection.timeout": "500ms"})
    client: Any = shaky.spark._jvm.org.apache.hadoop.fs.s3a.impl.AWSClientConfig  # type: ignore[union-attr]
    half_a_second = client.getMinimumOperationDuration().ofMillis(500)
    before = client.getMinimumOperationDuration()
    client.setMinimumOperationDuration(half_a_second)  # S3A takes no less than 15 s for a time-out
    try:
        shaky.load([A], "t")
        faults.add("hang", method="PUT", path="parquet", seconds=60)
        faults.add("hang", method="PUT", path=COMMIT, seconds=60)

        result = shaky.load([B], "t")
    finally:
        client.setMinimumOperationDuration(before)

    assert result.success, result.error
    assert [seen.kind for seen in faults.seen()] == ["hang", "hang"]
    assert (versions(shaky, "t"), shaky.rows("t")) == (1, [A, B])
