from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pytest

from deltaworks.errors import SetupError
from deltaworks.vault import CredentialNotFoundError, EnvironmentVault, MemoryVault, VaultChain
from deltaworks.vault.file import FileVault
from deltaworks.vault.keys import Keys

if TYPE_CHECKING:
    from pathlib import Path

ENVIRONMENT = EnvironmentVault({"DELTAWORKS_PG__PASSWORD": "from the environment"})


class LockedVault:
    """Fails whoever asks it anything."""

    def get(self, credential_id: str) -> NoReturn:
        raise SetupError("The keyring is locked.", hint="Unlock it.")


def test_the_first_vault_that_has_a_credential_gives_all_of_it() -> None:
    chain = VaultChain(ENVIRONMENT, MemoryVault({"pg": {"password": "x", "host": "db"}, "s3": {"key": "canary"}}))

    assert set(chain.get("pg").values) == {"password"}
    assert chain.get("pg").secrets() == {"from the environment"}
    assert chain.get("s3").secrets() == {"canary"}


def test_a_vault_is_not_opened_for_what_another_before_it_has() -> None:
    chain = VaultChain(ENVIRONMENT, LockedVault())

    assert chain.get("pg").secrets() == {"from the environment"}
    with pytest.raises(SetupError, match="locked"):
        chain.get("s3")


def test_a_credential_in_none_of_them_says_where_was_looked_and_how_to_add_it(tmp_path: Path) -> None:
    path = tmp_path / "vault" / "vault.sealed"
    vault = FileVault(path, Keys(file=tmp_path / "vault" / "vault.key"))
    vault.create("file")

    with pytest.raises(CredentialNotFoundError) as caught:
        VaultChain(ENVIRONMENT, vault).get("s3-main")

    assert str(caught.value) == f"No credential is named 's3-main' in the environment or in {path}."
    assert "DELTAWORKS_S3_MAIN__PASSWORD" in caught.value.hint
    assert "deltaworks vault set s3-main" in caught.value.hint


def test_a_printed_chain_shows_places_only() -> None:
    assert repr(VaultChain(ENVIRONMENT, MemoryVault({"s3": {"key": "canary"}}))) == (
        "VaultChain(EnvironmentVault(), MemoryVault(s3))"
    )
