from __future__ import annotations

import pytest

from deltaworks.vault import CredentialNotFoundError, MemoryVault

VAULT = MemoryVault({"pg-main": {"password": "canary"}, "s3": {}})


def test_a_credential_is_found_by_its_id() -> None:
    assert VAULT.get("pg-main").secrets() == {"canary"}
    assert VAULT.get("s3").secrets() == set()


def test_a_missing_credential_says_which_one_was_meant() -> None:
    with pytest.raises(CredentialNotFoundError) as caught:
        VAULT.get("pg_main")

    assert caught.value.hint == "Did you mean 'pg-main'?"


def test_a_printed_vault_shows_ids_only() -> None:
    assert repr(VAULT) == "MemoryVault(pg-main, s3)"
