from __future__ import annotations

import pickle

import pytest
from pydantic import SecretStr

from deltaworks.errors import ConfigError
from deltaworks.vault import Credential, CredentialNotFoundError
from deltaworks.vault.credential import require_name


def test_a_printed_credential_shows_names_and_no_values() -> None:
    credential = Credential("pg", {"password": SecretStr("canary")})

    assert "canary" not in repr(credential)
    assert "password" in repr(credential)


def test_a_credential_knows_what_must_not_be_shown() -> None:
    values = {name: SecretStr(f"{name}-canary") for name in ("password", "access_key_id", "sessionToken", "whatever")}

    assert Credential("pg", values).secrets() == {value.get_secret_value() for value in values.values()}


@pytest.mark.parametrize(
    "name", ["host", "port", "database", "endpoint", "region", "bucket", "type", "user", "USERNAME"]
)
def test_where_something_is_and_who_asks_is_no_secret(name: str) -> None:
    assert Credential("pg", {name: SecretStr("db"), "password": SecretStr("canary")}).secrets() == {"canary"}


def test_a_missing_credential_says_where_it_was_looked_for() -> None:
    error = CredentialNotFoundError("pg", looked_in=("the environment", "vault.sealed"), hint="Add it.")

    assert str(error) == "No credential is named 'pg' in the environment or in vault.sealed."


@pytest.mark.parametrize("name", ["", ".", "..", "a/../b", "/a", "a/", "a b", "pg=canary", "é", "-x", "a\n", "x" * 200])
def test_what_is_no_name_is_refused_and_not_repeated(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        require_name(name)

    assert "canary" not in str(caught.value) + caught.value.hint


@pytest.mark.parametrize("name", ["pg", "s3-creds", "team/pg.main", "access_key_id", "0"])
def test_a_name_is_letters_digits_and_a_few_signs(name: str) -> None:
    require_name(name)


def test_a_missing_credential_is_a_matter_of_the_machine() -> None:
    error = CredentialNotFoundError("pg", hint="Add it.")

    assert (str(error), error.credential_id, error.exit_code) == ("No credential is named 'pg'.", "pg", 3)
    assert pickle.loads(pickle.dumps(error)).credential_id == "pg"
