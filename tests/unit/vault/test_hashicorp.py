"""Against a server that answers as the documents of Vault's HTTP API say."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr
from tests.unit.vault.loopback import Answer, Loopback, Request, loopback
from tests.unit.vault.tracebacks import readable

from deltaworks.errors import ConfigError, SetupError
from deltaworks.vault import CredentialNotFoundError
from deltaworks.vault.hashicorp import HashicorpVault

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "hvs.canary-token"
WRONG = "hvs.another-canary"
VALUES = {"user": "ana", "password": "canary-word", "port": 5432}
METADATA = {"created_time": "2024-01-01T00:00:00Z", "deletion_time": "", "destroyed": False, "version": 3}
NEWER = {"data": VALUES, "metadata": METADATA}
DELETED = {"data": None, "metadata": {**METADATA, "deletion_time": "2024-02-01T00:00:00Z"}}
SECRETS: dict[str, Any] = {
    "/v1/secret/data/deltaworks/pg": NEWER,
    "/v1/secret/data/deltaworks/team/pg": NEWER,
    "/v1/secret/data/pg": NEWER,
    "/v1/kv/one/pg": VALUES,
    "/v1/secret/data/nested": {"data": {"password": {"inner": "canary-word"}}, "metadata": METADATA},
    "/v1/secret/data/empty": {"data": None, "metadata": METADATA},
}


def answered(request: Request) -> Answer:
    """What the server says to a read, as documented."""
    if request.headers.get("X-Vault-Token") != TOKEN:
        return Answer(403, {"errors": ["permission denied"]})
    if request.path == "/v1/secret/data/deleted":
        return Answer(404, {"request_id": "1", "data": DELETED, "errors": None})
    if request.path not in SECRETS:
        return Answer(404, {"errors": []})
    return Answer(200, {"request_id": "1", "lease_id": "", "renewable": False, "data": SECRETS[request.path]})


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback(answered) as found:
        yield found


def vault(address: str, **values: Any) -> HashicorpVault:
    return HashicorpVault(address=address, **{"token": SecretStr(TOKEN), **values})


def shown(found: HashicorpVault, credential_id: str) -> dict[str, str]:
    return {name: value.get_secret_value() for name, value in found.get(credential_id).values.items()}


@pytest.mark.parametrize(
    ("credential_id", "values"),
    [
        ("pg", {"path": "deltaworks"}),
        ("pg", {"path": "/deltaworks/"}),
        ("team/pg", {"path": "deltaworks"}),
        ("pg", {}),
        ("pg", {"mount": "kv", "path": "one", "kv_version": 1}),
    ],
)
def test_a_credential_is_a_secret_of_either_version(
    server: Loopback, credential_id: str, values: dict[str, Any]
) -> None:
    found = shown(vault(server.address, **values), credential_id)

    assert found == {"user": "ana", "password": "canary-word", "port": "5432"}


def test_the_token_and_the_namespace_are_sent_as_headers(server: Loopback) -> None:
    vault(server.address, namespace="team-a").get("pg")

    (request,) = server.requests
    assert (request.method, request.path) == ("GET", "/v1/secret/data/pg")
    assert request.headers["X-Vault-Token"] == TOKEN
    assert request.headers["X-Vault-Namespace"] == "team-a"


@pytest.mark.parametrize("credential_id", ["nothing", "deleted"])
def test_a_secret_that_is_not_there_says_where_was_looked(server: Loopback, credential_id: str) -> None:
    with pytest.raises(CredentialNotFoundError) as caught:
        vault(server.address).get(credential_id)

    assert f"in secret/{credential_id} of {server.address}" in str(caught.value)
    assert "kvVersion: 1" in caught.value.hint


def test_a_wrong_token_is_a_clear_error(server: Loopback) -> None:
    with pytest.raises(SetupError, match="refused the token") as caught:
        vault(server.address, token=SecretStr(WRONG)).get("pg")

    assert "VAULT_TOKEN" in caught.value.hint
    assert "canary" not in readable(caught.value)


@pytest.mark.parametrize("token", ["", "canary\n-token", "canarÿ\u20ac"])
def test_a_token_that_is_none_is_a_clear_error(server: Loopback, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_TOKEN", TOKEN)  # which only the edges look at

    with pytest.raises(SetupError) as caught:
        vault(server.address, token=SecretStr(token)).get("pg")

    assert server.requests == []
    assert "canar" not in readable(caught.value)


@pytest.mark.parametrize(
    ("status", "content", "problem"),
    [
        (503, {"errors": ["Vault is sealed"]}, "is sealed or down"),
        (400, {"errors": ["canary-word"]}, "did not understand"),
        (500, {"errors": ["canary-word"]}, "gave no answer: InternalServerError"),
        (429, {"errors": ["canary-word"]}, "gave no answer: RateLimitExceeded"),
        (502, "<html>canary-word</html>", "gave no answer: BadGateway"),
        (200, "<html>canary-word</html>", "holds no names and values"),
        (200, {"data": "canary-word"}, "holds no names and values"),
    ],
)
def test_whatever_else_it_answers_is_a_clear_error_that_repeats_nothing(
    status: int, content: Any, problem: str
) -> None:
    with loopback(lambda _: Answer(status, content)) as server, pytest.raises(SetupError) as caught:
        vault(server.address).get("pg")

    assert problem in str(caught.value)
    assert not isinstance(caught.value, CredentialNotFoundError)
    assert "canary" not in readable(caught.value)


@pytest.mark.parametrize(("credential_id", "problem"), [("nested", "is not text"), ("empty", "no names and values")])
def test_a_secret_of_another_shape_is_refused_and_not_shown(server: Loopback, credential_id: str, problem: str) -> None:
    with pytest.raises(SetupError, match=problem) as caught:
        vault(server.address).get(credential_id)

    assert "canary" not in readable(caught.value)


def test_a_server_that_is_not_there_is_a_clear_error() -> None:
    with loopback(answered) as server:
        pass

    with pytest.raises(SetupError, match=r"127\.0\.0\.1:\d+ gave no answer: ConnectionError") as caught:
        vault(server.address).get("pg")

    assert "canary" not in readable(caught.value)


@pytest.mark.parametrize("credential_id", ["..", "../../sys/seal", "a//b", "pg?version=1", "pg#x"])
def test_a_name_cannot_lead_out_of_its_folder(server: Loopback, credential_id: str) -> None:
    with pytest.raises(ConfigError):
        vault(server.address).get(credential_id)

    assert server.requests == []


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hvac", None)

    with pytest.raises(SetupError, match="`hvac` is not installed") as caught:
        vault("http://127.0.0.1:1").get("pg")

    assert caught.value.hint == "Run `pip install 'deltaworks[hashicorp]'`."


def test_a_printed_vault_shows_its_place_and_no_token(server: Loopback) -> None:
    found = vault(server.address, path="deltaworks")

    assert server.address in repr(found)
    assert "canary" not in repr(found) + str(found) + repr(found.get("pg"))
