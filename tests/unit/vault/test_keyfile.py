from __future__ import annotations

import base64
import re
import stat
from typing import TYPE_CHECKING

import pytest

from deltaworks.errors import SetupError
from deltaworks.vault.keyfile import KeyFile
from deltaworks.vault.private import OpenToOthersError, replace_private
from deltaworks.vault.sealing import FileSeal

if TYPE_CHECKING:
    from pathlib import Path

SEAL = FileSeal(name="0123456789abcdef")
LINE = b"0123456789abcdef " + base64.b64encode(bytes(32)) + b"\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "vault.key"


def test_a_new_key_is_kept_in_a_file_for_its_owner_alone(path: Path) -> None:
    seal, key = KeyFile(path).make()

    assert KeyFile(path).key(seal) == key
    assert re.fullmatch(r"[0-9a-f]{16} [\w+/]{43}=\n", path.read_text())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_one_file_keeps_the_keys_of_several_vaults(path: Path) -> None:
    source = KeyFile(path)
    made = [source.make() for _ in range(3)]

    assert [source.key(seal) for seal, _ in made] == [key for _, key in made]


def test_a_key_that_is_forgotten_is_gone_and_the_file_with_the_last_of_them(path: Path) -> None:
    source = KeyFile(path)
    (gone, _), (kept, key) = source.make(), source.make()

    source.forget(gone)

    assert source.key(kept) == key
    with pytest.raises(SetupError, match="has no key for this vault"):
        source.key(gone)
    source.forget(kept)
    assert not path.exists()


def test_a_key_file_that_others_can_read_is_refused(path: Path) -> None:
    seal, _ = KeyFile(path).make()
    path.chmod(0o644)

    for attempt in (KeyFile(path).make, lambda: KeyFile(path).key(seal), lambda: KeyFile(path).forget(seal)):
        with pytest.raises(OpenToOthersError) as caught:
            attempt()
        assert f"chmod 600 {path}" in caught.value.hint


def test_a_key_file_that_is_not_there_is_named(path: Path) -> None:
    with pytest.raises(SetupError, match=r"There is no key file at .*vault\.key"):
        KeyFile(path).key(SEAL)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"canary", LINE.rstrip(), LINE[:-9] + b"\n", b"\xff" * 62, LINE + b"canary\n", b"#" + LINE]
)
def test_what_is_no_key_file_is_refused_and_not_repeated_or_changed(path: Path, content: bytes) -> None:
    replace_private(path, content)

    for attempt in (KeyFile(path).make, lambda: KeyFile(path).key(SEAL), lambda: KeyFile(path).forget(SEAL)):
        with pytest.raises(SetupError, match="is no key file") as caught:
            attempt()
        assert "canary" not in str(caught.value) + caught.value.hint
    assert path.read_bytes() == content
