"""A folder in a bucket, on a real server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from deltalake import write_deltalake
from tests.unit.tables import ROWS

from deltaworks import open_table
from deltaworks.errors import DeltaworksError, SetupError
from deltaworks.lake import remote
from deltaworks.lake.folder import Folder, folder_at
from deltaworks.lake.log import Log
from deltaworks.lake.proofs import A_DAY, Proofs, creates_once
from deltaworks.vault.storage import Sources, access_to
from deltaworks.vault.storage.s3 import S3Access

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.faults.client import Faults
    from tests.servers.s3 import Identity, S3Server


def access(s3: S3Server, bucket: str, identity: Identity | None = None) -> S3Access:
    found = access_to(f"s3a://{bucket}", Sources(given=s3.options(identity)))
    assert isinstance(found, S3Access)
    return found


@pytest.fixture
def folder(s3: S3Server, bucket: str) -> Folder:
    return folder_at(f"s3a://{bucket}/odd name/50%", access(s3, bucket))


NAMES = ["log/1.json", "log/2.json", "log/3.json", "p=a b/x%20y", "p=ü#?/z", "top"]


@pytest.fixture
def filled(folder: Folder) -> Folder:
    for name in NAMES:
        folder.write(name, name.encode())
    return folder


def test_names_of_all_kinds_come_back(filled: Folder) -> None:
    assert filled.files() == sorted(NAMES)
    assert filled.folders() == ["log", "p=a b", "p=ü#?"]
    assert [filled.text(name) for name in NAMES] == NAMES
    assert filled.missing([*NAMES, "lost"]) == ["lost"]


def test_files_are_listed_with_their_state(filled: Folder) -> None:
    before = {file.name: file for file in filled.stored()}
    filled.write("top", b"new")
    (after,) = filled.stored("top")

    assert {name: file.size for name, file in before.items()} == {name: len(name.encode()) for name in NAMES}
    assert [file.name for file in filled.stored("log")] == NAMES[:3]
    assert filled.stored("lost") == []
    assert abs(after.modified / 1e9 - datetime.now(UTC).timestamp()) < 60
    assert after.tag
    assert not after.same_as(before["top"])


def test_only_what_comes_after_a_name_is_listed(filled: Folder) -> None:
    assert filled.names("log", after="1.json") == ["2.json", "3.json"]


def test_files_and_folders_are_removed(filled: Folder) -> None:
    filled.remove("top")
    filled.remove("top")
    filled.remove_folder("log")
    filled.remove_folder("log")

    assert filled.files() == ["p=a b/x%20y", "p=ü#?/z"]


@pytest.mark.parametrize("largest", [remote.LARGEST_COPY, 0], ids=["by storage", "by us"])
def test_a_file_is_copied(filled: Folder, largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "LARGEST_COPY", largest)

    filled.copy("p=a b/x%20y", "p=ü#?/copy")

    assert filled.text("p=ü#?/copy") == "p=a b/x%20y"


def test_the_time_is_the_servers(folder: Folder) -> None:
    folder.write("now", b"x")

    at = folder.modified("now")
    assert at is not None
    assert abs(at - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_wrong_secret_is_told_without_repeating_it(s3: S3Server, bucket: str) -> None:
    given = {**s3.options(), "AWS_SECRET_ACCESS_KEY": "hunter2"}
    folder = folder_at(f"s3a://{bucket}/t", access_to(f"s3a://{bucket}", Sources(given=given)))

    with pytest.raises(SetupError, match="SignatureDoesNotMatch") as caught:
        folder.names()

    assert "keys are wrong" in caught.value.hint
    assert "hunter2" not in f"{caught.value}"


def test_a_bucket_that_is_not_there_is_told(s3: S3Server, bucket: str) -> None:
    with pytest.raises(SetupError, match="NoSuchBucket"):
        folder_at("s3a://nothing-here/t", access(s3, "nothing-here")).names()


def test_a_token_in_the_environment_is_not_sent_along(
    s3: S3Server, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "theirs")

    assert folder_at(f"s3a://{bucket}/t", access(s3, bucket)).names() == []


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
@pytest.mark.parametrize("name", ["orders", "odd name/50%"])
def test_a_table_in_a_bucket_is_opened_without_spark(s3: S3Server, bucket: str, scheme: str, name: str) -> None:
    encoded = name.replace("%", "%25").replace(" ", "%20")
    for _ in range(2):
        write_deltalake(f"s3://{bucket}/{encoded}", ROWS, mode="append", storage_options=s3.options())

    table = open_table(f"{scheme}://{bucket}/{name}", storage_options=s3.options())

    assert table.version == 1
    assert table.to_arrow().num_rows == 2 * ROWS.num_rows
    assert [commit.operation for commit in table.history()] == ["WRITE", "WRITE"]
    assert open_table(table.uri, version=0, storage_options=s3.options()).rows == ROWS.num_rows


def test_the_environment_says_how_a_table_is_reached(
    s3: S3Server, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_deltalake(f"s3://{bucket}/t", ROWS, storage_options=s3.options())
    for name, value in s3.options().items():
        monkeypatch.setenv(name, value)

    assert open_table(f"s3a://{bucket}/t").rows == ROWS.num_rows


def test_a_long_log_is_not_listed_from_its_beginning(faults: Faults, bucket: str) -> None:
    given = faults.s3.options()
    for _ in range(12):
        write_deltalake(f"s3://{bucket}/t", ROWS, mode="append", storage_options=given)
    folder = folder_at(f"s3a://{bucket}/t", access(faults.s3, bucket))
    folder.write("_delta_log/_last_checkpoint", b'{"version": 10}')
    faults.add("pass", path="list-type=2", times=None)

    assert Log(folder.uri, access(faults.s3, bucket)).latest() == 11
    assert ["start-after" in seen.path for seen in faults.seen()] == [True]


# Conditional put


def test_storage_that_creates_once_is_known_by_trying(s3: S3Server, bucket: str) -> None:
    uri = f"s3a://{bucket}/t"

    assert creates_once(uri, access(s3, bucket))
    assert folder_at(uri, access(s3, bucket)).files() == []


def test_storage_that_ignores_the_condition_is_known_by_trying(faults: Faults, bucket: str) -> None:
    faults.add("ignore-condition", method="PUT", header="if-none-match", times=None)

    assert not creates_once(f"s3a://{bucket}/t", access(faults.s3, bucket))


@pytest.mark.parametrize("kind", ["lost", "lost-500", "conflict", "500", "503", "cut", "reset"])
def test_a_bad_moment_is_not_taken_for_a_no(faults: Faults, bucket: str, kind: str) -> None:
    faults.add(kind, method="PUT")  # type: ignore[arg-type]

    assert creates_once(f"s3a://{bucket}/t", access(faults.s3, bucket))


def test_a_proof_is_remembered_for_a_day(faults: Faults, bucket: str, tmp_path: Path) -> None:
    uri, way = f"s3a://{bucket}/t", access(faults.s3, bucket)
    proofs = Proofs(folder_at(str(tmp_path / "cache")))
    faults.add("pass", method="PUT", times=None)

    assert proofs.creates_once(uri, way)
    asked = len(faults.seen())
    assert Proofs(proofs.folder).creates_once(uri, way)
    assert len(faults.seen()) == asked

    known = proofs._read()
    proofs._save({place: at - A_DAY for place, at in known.items()})
    assert proofs.creates_once(uri, way)
    assert len(faults.seen()) == 2 * asked


@pytest.mark.parametrize("text", ["", "[]", '{"x": "y"}'])
def test_a_memory_that_is_damaged_is_none(s3: S3Server, bucket: str, tmp_path: Path, text: str) -> None:
    (tmp_path / "proofs.json").write_text(text)

    assert Proofs(folder_at(str(tmp_path))).creates_once(f"s3a://{bucket}/t", access(s3, bucket))


def test_a_proof_that_cannot_be_kept_is_made_again(s3: S3Server, bucket: str, tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    proofs = Proofs(folder_at(str(tmp_path / "cache")))

    assert all(proofs.creates_once(f"s3a://{bucket}/t", access(s3, bucket)) for _ in range(2))


def test_a_no_is_not_remembered(faults: Faults, bucket: str, tmp_path: Path) -> None:
    faults.add("ignore-condition", method="PUT", header="if-none-match", times=None)

    assert not Proofs(folder_at(str(tmp_path))).creates_once(f"s3a://{bucket}/t", access(faults.s3, bucket))
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_asked_is_an_error_and_not_a_no(faults: Faults, bucket: str) -> None:
    faults.add("denied", method="PUT", times=None)

    with pytest.raises(DeltaworksError, match="AccessDenied"):
        creates_once(f"s3a://{bucket}/t", access(faults.s3, bucket))
