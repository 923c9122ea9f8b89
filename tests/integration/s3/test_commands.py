"""Commands that look at a bucket, without Spark."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from deltalake import write_deltalake
from tests.integration.s3 import lake
from tests.unit.tables import ROWS

from deltaworks.lake import checkup

if TYPE_CHECKING:
    import pytest
    from tests.servers.faults.client import Faults
    from tests.servers.s3 import Identity, S3Server
    from tests.unit.cli.outcome import Cli

RIGHTS = ["list", "write", "read", "clock", "delete", "conditional put", "log store"]


def credential(monkeypatch: pytest.MonkeyPatch, s3: S3Server, identity: Identity | None = None) -> None:
    """Put a credential of the server into the environment."""
    for name, value in lake.credential(s3, identity).items():
        monkeypatch.setenv(f"DELTAWORKS_LAKE__{name.upper()}", value)


def looked_at(cli: Cli, bucket: str, *more: str) -> dict[str, tuple[bool, str]]:
    found = cli("doctor", f"s3a://{bucket}", "--credential", "lake", "--json", *more).json
    return {each["name"]: (each["ok"], each["found"]) for each in found if each["name"] in RIGHTS}


def test_the_doctor_finds_a_good_bucket_good(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, s3: S3Server, bucket: str
) -> None:
    credential(monkeypatch, s3)

    found = looked_at(cli, bucket)

    assert list(found) == RIGHTS
    assert all(ok for ok, _ in found.values())
    assert found["log store"][1].startswith("io.deltaworks.storage.ConditionalPutLogStore")
    assert re.fullmatch(r"within \d+ s of the storage's", found["clock"][1])
    assert not [path for path in (s3.folder / "data" / bucket).rglob("*") if path.is_file()]


def test_the_doctor_tells_which_right_is_missing(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, faults: Faults, bucket: str
) -> None:
    credential(monkeypatch, faults.s3, faults.s3.reader)
    empty = looked_at(cli, bucket)
    write_deltalake(f"s3://{bucket}", ROWS, storage_options=faults.s3.options())

    found = looked_at(cli, bucket)

    assert empty["read"][1] == "not tried: there is nothing to read"
    assert found["read"][1].endswith(".parquet could be read")
    assert {name for name, (ok, _) in found.items() if not ok} == {"write", "conditional put"}
    assert "AccessDenied" in found["write"][1]
    assert found["delete"][1].startswith("not tried")


def test_the_doctor_tells_that_objects_cannot_be_deleted(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, faults: Faults, bucket: str
) -> None:
    credential(monkeypatch, faults.s3)
    faults.add("denied", method="DELETE|POST", times=None)

    found = looked_at(cli, bucket)

    assert not found["delete"][0]
    assert found["write"][0]


def test_the_doctor_tells_that_conditional_put_is_not_honoured(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, faults: Faults, bucket: str
) -> None:
    credential(monkeypatch, faults.s3)
    faults.add("ignore-condition", method="PUT", header="if-none-match", times=None)

    outcome = cli("doctor", f"s3a://{bucket}", "--credential", "lake")

    assert outcome.code == 3
    assert "singleDriver" in outcome.out


def test_the_doctor_tells_that_the_clocks_differ(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, s3: S3Server, bucket: str
) -> None:
    credential(monkeypatch, s3)
    monkeypatch.setattr(checkup, "MOST_SKEW", timedelta(seconds=-1))

    assert looked_at(cli, bucket)["clock"][0] is False


def test_a_bucket_that_is_not_there_is_told(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, s3: S3Server, bucket: str
) -> None:
    credential(monkeypatch, s3)

    outcome = cli("doctor", "s3a://no-such-bucket-here", "--credential", "lake")

    assert outcome.code == 3
    assert "NoSuchBucket" in outcome.out
    assert "Make the bucket" in outcome.out


def test_a_table_in_a_bucket_is_looked_at(cli: Cli, monkeypatch: pytest.MonkeyPatch, s3: S3Server, bucket: str) -> None:
    credential(monkeypatch, s3)
    write_deltalake(f"s3://{bucket}/t", ROWS, storage_options=s3.options())
    asked = (f"s3://{bucket}/t", "--credential", "lake", "--json")

    assert cli("table", "info", *asked).json["rows"] == ROWS.num_rows
    assert [commit["version"] for commit in cli("table", "history", *asked).json] == [0]
    assert [column["name"] for column in cli("table", "schema", *asked).json] == ROWS.column_names


def test_a_credential_nobody_has_is_two_lines(cli: Cli, s3: S3Server, bucket: str) -> None:
    outcome = cli("table", "info", f"s3a://{bucket}/t", "--credential", "nothing")

    assert outcome.code == 3
    assert outcome.error[0].startswith("Error: No credential is named 'nothing'")
