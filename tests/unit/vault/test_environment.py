from __future__ import annotations

import pytest

from deltaworks.vault import CredentialNotFoundError, EnvironmentVault

VARIABLES = {
    "DELTAWORKS_PG__PASSWORD": "canary",
    "DELTAWORKS_PG__HOST": "db",
    "DELTAWORKS_S3_CREDS__SECRET_KEY": "canary-key",
    "PG__PASSWORD": "other",
}


def values(credential_id: str, variables: dict[str, str]) -> dict[str, str]:
    credential = EnvironmentVault(variables).get(credential_id)
    return {name: value.get_secret_value() for name, value in credential.values.items()}


def test_the_variables_of_a_credential_are_its_values() -> None:
    assert values("pg", VARIABLES) == {"password": "canary", "host": "db"}


@pytest.mark.parametrize("credential_id", ["s3-creds", "S3_CREDS", "s3.creds"])
def test_signs_that_no_variable_can_have_are_underscores(credential_id: str) -> None:
    assert values(credential_id, VARIABLES) == {"secret_key": "canary-key"}


def test_a_credential_without_variables_says_which_to_set() -> None:
    with pytest.raises(CredentialNotFoundError) as caught:
        EnvironmentVault(VARIABLES).get("kafka-main")

    assert "DELTAWORKS_KAFKA_MAIN__PASSWORD" in caught.value.hint


def test_without_a_mapping_the_process_environment_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTAWORKS_PG__PASSWORD", "canary")

    assert EnvironmentVault().get("pg").secrets() == {"canary"}


def test_a_printed_vault_shows_nothing() -> None:
    assert repr(EnvironmentVault(VARIABLES)) == "EnvironmentVault()"
