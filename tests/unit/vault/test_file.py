from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Literal

import keyring
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr
from tests.house.tree import ROOT
from tests.unit.vault.rings import FileRing, LockedRing

from deltaworks.errors import ConfigError, RefusedError, SetupError
from deltaworks.vault import CredentialNotFoundError
from deltaworks.vault.file import FileVault, NoVaultError, WrongKeyError
from deltaworks.vault.keys import Keys
from deltaworks.vault.passphrase import PassphraseKey
from deltaworks.vault.private import OpenToOthersError, replace_private
from deltaworks.vault.sealing import PassphraseSeal, sealed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.vault.rings import MemoryRing

Kind = Literal["keyring", "file", "passphrase"]
PG = {"password": SecretStr("canary"), "host": SecretStr("db")}


def vault_at(folder: Path, **options: Any) -> FileVault:
    keys = Keys(file=folder / "vault.key", passphrase=lambda: "correct horse", new_passphrase=lambda: "battery staple")
    return FileVault(folder / "vault.sealed", keys, **options)


def values(vault: FileVault, credential_id: str) -> dict[str, str]:
    return {name: value.get_secret_value() for name, value in vault.get(credential_id).values.items()}


def under_passphrase(folder: Path, passphrase: str = "correct horse") -> Path:
    """A vault under a passphrase that costs little."""
    seal = PassphraseSeal(n=2**14, salt=os.urandom(16).hex())
    key = PassphraseKey(lambda: passphrase, lambda: "").key(seal)
    path = folder / "vault.sealed"
    replace_private(path, sealed(b'{"pg": {"password": "canary"}}', seal, key))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vault"


@pytest.fixture
def vault(folder: Path) -> FileVault:
    found = vault_at(folder)
    found.create("file")
    found.put("pg", PG)
    return found


# What it holds


def test_what_was_put_in_is_found_by_whoever_has_the_key(vault: FileVault, folder: Path) -> None:
    assert values(vault_at(folder), "pg") == {"password": "canary", "host": "db"}
    assert vault_at(folder).names() == {"pg": ("host", "password")}


def test_a_value_that_is_put_again_is_changed_and_the_others_stay(vault: FileVault, folder: Path) -> None:
    vault.put("pg", {"password": SecretStr("new"), "user": SecretStr("ana")})

    assert values(vault_at(folder), "pg") == {"password": "new", "host": "db", "user": "ana"}


def test_what_is_removed_is_gone_and_the_others_stay(vault: FileVault, folder: Path) -> None:
    vault.put("s3", {"secret": SecretStr("canary")})
    vault.remove("pg")

    assert vault_at(folder).names() == {"s3": ("secret",)}


def test_what_another_process_adds_is_found(vault: FileVault, folder: Path) -> None:
    assert values(vault, "pg")
    vault_at(folder).put("s3", {"secret": SecretStr("canary")})

    assert values(vault, "s3") == {"secret": "canary"}


def test_a_missing_credential_says_where_was_looked_and_how_to_add_it(vault: FileVault, folder: Path) -> None:
    with pytest.raises(CredentialNotFoundError) as caught:
        vault.get("s3")

    assert str(caught.value) == f"No credential is named 's3' in {folder}/vault.sealed."
    assert caught.value.hint == "Add it with `deltaworks vault set s3`; the vault holds pg."


def test_a_missing_credential_cannot_be_removed(vault: FileVault) -> None:
    with pytest.raises(CredentialNotFoundError) as caught:
        vault.remove("pgg")

    assert caught.value.hint == "Did you mean 'pg'?"


def test_without_a_file_a_credential_is_missing_and_the_hint_says_how_to_begin(folder: Path) -> None:
    with pytest.raises(CredentialNotFoundError, match="which is not there") as caught:
        vault_at(folder).get("pg")

    assert "deltaworks vault init" in caught.value.hint
    assert "deltaworks vault set pg" in caught.value.hint


def test_without_a_file_nothing_can_be_listed_put_removed_or_sealed_anew(folder: Path) -> None:
    vault = vault_at(folder)

    for attempt in (vault.names, vault.rotate, lambda: vault.put("pg", PG), lambda: vault.remove("pg")):
        with pytest.raises(NoVaultError, match="There is no vault at"):
            attempt()


@pytest.mark.parametrize("name", ["", "..", "a b", "pg=canary"])
def test_what_is_no_name_is_not_put(vault: FileVault, name: str) -> None:
    for credential_id, given_values in ((name, PG), ("pg", {name: SecretStr("canary")})):
        with pytest.raises(ConfigError) as caught:
            vault.put(credential_id, given_values)
        assert "canary" not in str(caught.value)


@given(text=st.text() | st.just(b"\xff".decode(errors="surrogateescape")))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # each example changes the same value
def test_any_text_can_be_a_value(vault: FileVault, text: str) -> None:
    vault.put("pg", {"password": SecretStr(text)})

    assert values(vault, "pg")["password"] == text


# Who can read it


def test_file_and_folder_are_for_their_owner_alone(vault: FileVault, folder: Path) -> None:
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_neither_names_nor_values_can_be_read_without_the_key(vault: FileVault, folder: Path) -> None:
    raw = (folder / "vault.sealed").read_bytes()

    assert [word for word in (b"canary", b"pg", b"password", b"host") if word in raw] == []


@pytest.mark.parametrize("name", ["vault.sealed", "vault.key"])
def test_a_vault_or_key_that_others_can_read_is_refused(vault: FileVault, folder: Path, name: str) -> None:
    (folder / name).chmod(0o640)

    with pytest.raises(OpenToOthersError) as caught:
        vault_at(folder).get("pg")

    assert f"chmod 600 {folder / name}" in caught.value.hint


def test_a_folder_that_others_can_write_to_is_refused(vault: FileVault, folder: Path) -> None:
    folder.chmod(0o770)

    for attempt in (lambda: vault.get("pg"), lambda: vault.put("pg", PG)):
        with pytest.raises(OpenToOthersError, match="Others can write"):
            attempt()


# What opens it


def test_flipping_any_byte_fails_loudly(vault: FileVault, folder: Path) -> None:
    path = folder / "vault.sealed"
    raw = path.read_bytes()
    for at in range(len(raw)):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 0x01]) + raw[at + 1 :])
        with pytest.raises(SetupError):
            vault_at(folder).get("pg")
    path.write_bytes(raw)
    assert values(vault_at(folder), "pg")


def test_a_byte_that_changes_while_the_key_is_known_fails_loudly_too(vault: FileVault, folder: Path) -> None:
    assert values(vault, "pg")
    path = folder / "vault.sealed"
    path.write_bytes(path.read_bytes()[:-1])

    for attempt in (vault.names, vault.rotate, lambda: vault.put("pg", PG), lambda: vault.remove("pg")):
        with pytest.raises(WrongKeyError):
            attempt()


def test_another_key_is_an_error_and_never_an_empty_vault(vault: FileVault, folder: Path) -> None:
    name, _ = (folder / "vault.key").read_text().split()
    (folder / "vault.key").write_text(f"{name} {'A' * 43}=\n")

    for attempt in (lambda: vault_at(folder).get("nothing"), vault_at(folder).names, vault_at(folder).rotate):
        with pytest.raises(WrongKeyError, match="does not open with the key in the key file"):
            attempt()


def test_a_key_file_without_its_key_is_an_error_and_never_an_empty_vault(vault: FileVault, folder: Path) -> None:
    (folder / "vault.key").unlink()
    vault_at(folder / "other").create("file")
    (folder / "other/vault.key").rename(folder / "vault.key")

    for attempt in (lambda: vault_at(folder).get("nothing"), vault_at(folder).names, vault_at(folder).rotate):
        with pytest.raises(SetupError, match="has no key for this vault"):
            attempt()


def test_another_passphrase_is_an_error_and_never_an_empty_vault(folder: Path) -> None:
    under_passphrase(folder, "another horse")

    for attempt in (lambda: vault_at(folder).get("nothing"), vault_at(folder).names):
        with pytest.raises(WrongKeyError, match="does not open with this passphrase"):
            attempt()


def test_a_passphrase_is_asked_for_once(folder: Path) -> None:
    asked: list[int] = []
    keys = Keys(passphrase=lambda: asked.append(1) or "correct horse")  # type: ignore[func-returns-value]
    vault = FileVault(under_passphrase(folder), keys)

    assert values(vault, "pg") == values(vault, "pg") == {"password": "canary"}
    assert asked == [1]


def test_a_key_that_was_not_given_is_asked_for_by_name(folder: Path) -> None:
    path = under_passphrase(folder)
    vault_at(folder / "other").create("file")

    with pytest.raises(SetupError, match="A passphrase is needed"):
        FileVault(path, Keys()).get("pg")
    with pytest.raises(SetupError, match="A key file is needed"):
        FileVault(folder / "other/vault.sealed", Keys()).get("pg")


def test_the_keyring_opens_what_it_sealed(ring: MemoryRing, folder: Path) -> None:
    vault_at(folder).create("keyring")
    vault_at(folder).put("pg", PG)

    assert values(vault_at(folder), "pg")["password"] == "canary"
    ring.kept.clear()
    with pytest.raises(SetupError, match="The keyring has no key"):
        vault_at(folder).get("pg")


def test_a_vault_sealed_with_another_kind_of_key_than_the_project_says_is_refused(
    vault: FileVault, folder: Path
) -> None:
    assert values(vault_at(folder, kind="file"), "pg")
    with pytest.raises(ConfigError, match="sealed with key: file, and the project says key: passphrase"):
        vault_at(folder, kind="passphrase").get("pg")


# Making it, and changing its key


def test_a_vault_that_is_there_is_not_made_again(vault: FileVault, folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}

    with pytest.raises(RefusedError, match="There is a vault at"):
        vault_at(folder).create("file")

    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("kind", ["file", "keyring"])
def test_a_new_key_opens_what_the_old_one_opened_and_the_old_one_nothing(
    ring: MemoryRing, folder: Path, kind: Kind
) -> None:
    vault = vault_at(folder)
    vault.create(kind)
    vault.put("pg", PG)
    old_file = (folder / "vault.sealed").read_bytes()
    kept = (dict(ring.kept), (folder / "vault.key").read_bytes() if kind == "file" else b"")

    assert vault.rotate() == kind

    assert values(vault_at(folder), "pg")["password"] == "canary"
    assert (folder / "vault.sealed").read_bytes() != old_file
    now = (dict(ring.kept), (folder / "vault.key").read_bytes() if kind == "file" else b"")
    assert now != kept
    assert (len(now[0]), len(now[1])) == (len(kept[0]), len(kept[1]))  # the old one is gone
    (folder / "vault.sealed").write_bytes(old_file)
    with pytest.raises(SetupError):
        vault_at(folder).get("pg")


def test_the_kind_of_key_can_change_and_leaves_no_old_key_behind(ring: MemoryRing, folder: Path) -> None:
    vault = vault_at(folder)
    vault.create("file")
    vault.put("pg", PG)

    assert vault.rotate("keyring") == "keyring"
    assert not (folder / "vault.key").exists()
    assert vault_at(folder).rotate("file") == "file"
    assert ring.kept == {}
    assert len((folder / "vault.key").read_text().splitlines()) == 1
    assert values(vault_at(folder), "pg")["password"] == "canary"


def test_a_new_passphrase_takes_the_place_of_a_key(vault: FileVault, folder: Path) -> None:
    vault.rotate("passphrase")

    assert [path.name for path in folder.iterdir() if path.name.startswith("vault")] == ["vault.sealed"]
    keys = Keys(passphrase=lambda: "battery staple")
    assert values(FileVault(folder / "vault.sealed", keys, kind="passphrase"), "pg")["password"] == "canary"


def test_vaults_that_share_a_key_file_do_not_lose_each_others_keys(vault: FileVault, folder: Path) -> None:
    other = FileVault(folder / "other.sealed", vault.keys)
    other.create("file")
    vault.rotate()
    other.rotate()

    assert values(vault_at(folder), "pg")["password"] == "canary"
    assert other.names() == {}


def test_a_vault_and_its_key_are_never_the_same_file(folder: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be the vault and its key"):
        FileVault(folder / "vault.sealed", Keys(file=folder / "x" / ".." / "vault.sealed"))


def test_a_vault_whose_project_names_another_kind_of_key_can_be_sealed_with_that(
    ring: MemoryRing, vault: FileVault, folder: Path
) -> None:
    assert vault_at(folder, kind="keyring").rotate("keyring") == "keyring"
    assert values(vault_at(folder, kind="keyring"), "pg")


def test_a_key_that_cannot_be_kept_changes_nothing(ring: MemoryRing, vault: FileVault, folder: Path) -> None:
    keyring.set_keyring(LockedRing())

    with pytest.raises(SetupError, match="The keyring is locked"):
        vault.rotate("keyring")

    assert values(vault_at(folder), "pg")["password"] == "canary"


# Kills and races

CHANGE = """
import sys, pathlib, keyring
from pydantic import SecretStr
from tests.unit.vault.rings import FileRing
from deltaworks.vault.file import FileVault
from deltaworks.vault.keys import Keys
keyring.set_keyring(FileRing())
folder = pathlib.Path(sys.argv[1])
vault = FileVault(folder / "vault.sealed", Keys(file=folder / "vault.key"))
"""
PUT = CHANGE + "for name in sys.argv[2:]: vault.put(name, {'password': SecretStr(name)})"
ROTATE = CHANGE + "vault.rotate(sys.argv[2] if sys.argv[2:] else None)"


def started(code: str, *arguments: object, failpoint: str = "") -> subprocess.Popen[bytes]:
    variables = os.environ | {"DELTAWORKS_FAILPOINTS": f"{failpoint}=kill" if failpoint else ""}
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], cwd=ROOT, env=variables)


@pytest.fixture
def shared_ring(ring: MemoryRing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileRing:
    monkeypatch.setenv("RING", str(tmp_path / "ring.json"))
    found = FileRing()
    keyring.set_keyring(found)
    return found


@pytest.mark.usefixtures("shared_ring")
def test_a_process_killed_before_the_new_file_is_in_place_leaves_the_old_vault(vault: FileVault, folder: Path) -> None:
    before = (folder / "vault.sealed").read_bytes()

    killed = started(PUT, folder, "s3", failpoint="before_replacing_vault.sealed")

    assert killed.wait(60) == -signal.SIGKILL
    assert (folder / ".vault.sealed.draft").exists()  # it was killed with the new one written
    assert (folder / "vault.sealed").read_bytes() == before
    vault.put("kafka", PG)
    assert vault_at(folder).names() == {"pg": ("host", "password"), "kafka": ("host", "password")}
    assert not (folder / ".vault.sealed.draft").exists()


@pytest.mark.usefixtures("shared_ring")
@pytest.mark.parametrize("before", ["file", "keyring"])
@pytest.mark.parametrize("after", ["file", "keyring"])
def test_a_process_killed_while_it_changes_the_key_leaves_a_vault_that_opens(
    folder: Path, before: Kind, after: Kind
) -> None:
    vault_at(folder).create(before)
    vault_at(folder).put("pg", PG)
    for point in ("after_making_a_key", "before_replacing_vault.sealed", "after_rotating"):
        assert started(ROTATE, folder, after, failpoint=point).wait(60) == -signal.SIGKILL
        assert values(vault_at(folder), "pg")["password"] == "canary"

    assert vault_at(folder).rotate(before) == before
    assert values(vault_at(folder), "pg")["password"] == "canary"


@pytest.mark.usefixtures("shared_ring")
@pytest.mark.parametrize("step", ["making", "forgetting"])
def test_a_process_killed_while_it_writes_the_key_file_leaves_a_vault_that_opens(
    vault: FileVault, folder: Path, step: str
) -> None:
    if step == "forgetting":  # a second key, so that the file is written and not removed
        FileVault(folder / "other.sealed", vault.keys).create("file")
    after = "file" if step == "making" else "keyring"

    killed = started(ROTATE, folder, after, failpoint="before_replacing_vault.key")

    assert killed.wait(60) == -signal.SIGKILL
    assert values(vault_at(folder), "pg")["password"] == "canary"


@pytest.mark.usefixtures("shared_ring")
def test_processes_that_put_at_once_lose_nothing(vault: FileVault, folder: Path) -> None:
    names = [[f"{writer}-{number}" for number in range(10)] for writer in range(3)]
    writers = [started(PUT, folder, *each) for each in names]

    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert set(vault_at(folder).names()) == {"pg", *(name for each in names for name in each)}


# What never shows


def test_a_printed_vault_shows_its_place_only(vault: FileVault, folder: Path) -> None:
    assert values(vault, "pg")

    assert repr(vault) == f"FileVault('{folder}/vault.sealed')"
    assert "canary" not in repr(vault.get("pg")) + str(vault.get("pg"))
