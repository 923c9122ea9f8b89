from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from deltaworks.errors import RunError, SetupError
from deltaworks.vault.private import LARGEST, OpenToOthersError, alone, read_private, replace_private

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "private" / "secret"


@pytest.fixture
def written(path: Path) -> Path:
    replace_private(path, b"canary")
    return path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_file_and_its_new_folder_are_for_their_owner_alone(path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        replace_private(path, b"canary")
    finally:
        os.umask(before)

    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert read_private(path) == b"canary"


def test_a_folder_that_was_there_keeps_its_rights(tmp_path: Path) -> None:
    (tmp_path / "shown").mkdir(mode=0o755)

    replace_private(tmp_path / "shown" / "secret", b"canary")

    assert mode(tmp_path / "shown") == 0o755
    assert read_private(tmp_path / "shown" / "secret") == b"canary"


@pytest.mark.parametrize("rights", [0o640, 0o604, 0o660, 0o601, 0o620])
def test_a_file_that_others_can_open_is_refused_with_the_command_that_mends_it(written: Path, rights: int) -> None:
    written.chmod(rights)

    with pytest.raises(OpenToOthersError, match="not for its owner alone") as caught:
        read_private(written)

    assert f"chmod 600 {written}" in caught.value.hint
    written.chmod(0o600)
    assert read_private(written) == b"canary"


@pytest.mark.parametrize("rights", [0o770, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_can_write_to_is_refused_with_the_command_that_mends_it(
    written: Path, rights: int
) -> None:
    written.parent.chmod(rights)

    for attempt in (lambda: read_private(written), lambda: replace_private(written, b""), alone(written).__enter__):
        with pytest.raises(OpenToOthersError, match="Others can write to") as caught:
            attempt()
        assert f"chmod go-w {written.parent}" in caught.value.hint


def test_what_a_link_leads_to_is_looked_at(written: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(written)
    replace_private(link, b"through the link")

    assert link.is_symlink()
    assert read_private(written) == b"through the link"
    written.chmod(0o644)
    with pytest.raises(OpenToOthersError):
        read_private(link)


@pytest.mark.parametrize("place", ["secret", "."])
def test_a_file_or_folder_of_another_user_is_refused(
    written: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    if os.geteuid() == 0:  # root's files are anybody's to trust
        os.chown(written.parent / place, 12345, -1)
    monkeypatch.setattr(os, "geteuid", lambda: 54321)

    with pytest.raises(OpenToOthersError, match="belongs to another user") as caught:
        read_private(written)

    assert "chown 54321 " in caught.value.hint


def test_what_is_not_there_is_for_the_caller_to_explain(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_private(path)


def test_what_cannot_be_read_is_a_clear_error(path: Path) -> None:
    path.mkdir(parents=True, mode=0o700)

    with pytest.raises(SetupError, match="cannot be read: Is a directory"):
        read_private(path)


def test_what_is_far_too_large_is_refused(path: Path) -> None:
    replace_private(path, bytes(LARGEST + 1))

    with pytest.raises(SetupError, match="too large"):
        read_private(path)


def test_what_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(SetupError, match="cannot be written"):
        replace_private(tmp_path / "file/x", b"")
    with pytest.raises(SetupError, match="cannot be written"), alone(tmp_path / "file/x"):
        pass


def test_a_failure_before_the_new_file_is_in_place_leaves_the_old_and_nothing_else(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DELTAWORKS_FAILPOINTS", "before_replacing_secret=raise")

    with pytest.raises(RunError):
        replace_private(written, b"new")

    assert read_private(written) == b"canary"
    assert [file.name for file in written.parent.iterdir()] == ["secret"]


def test_what_a_killed_process_left_is_no_hindrance(written: Path) -> None:
    (written.parent / ".secret.draft").write_bytes(b"half")

    replace_private(written, b"new")

    assert read_private(written) == b"new"
    assert [file.name for file in written.parent.iterdir()] == ["secret"]
