from __future__ import annotations

import pickle

from pydantic import SecretStr

from deltaworks.vault import Credential, CredentialNotFoundError


def test_a_printed_credential_shows_names_and_no_values() -> None:
    credential = Credential("pg", {"password": SecretStr("canary")})

    assert "canary" not in repr(credential)
    assert "password" in repr(credential)


def test_a_credential_knows_what_must_not_be_shown() -> None:
    credential = Credential("pg", {"user": SecretStr("ana"), "password": SecretStr("canary")})

    assert credential.secrets() == {"ana", "canary"}


def test_a_missing_credential_is_a_matter_of_the_machine() -> None:
    error = CredentialNotFoundError("pg", hint="Add it.")

    assert (str(error), error.credential_id, error.exit_code) == ("No credential is named 'pg'.", "pg", 3)
    assert pickle.loads(pickle.dumps(error)).credential_id == "pg"
