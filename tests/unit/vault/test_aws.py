"""Against a server that answers GetSecretValue as AWS documents it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.vault.loopback import Answer, Loopback, Request, loopback
from tests.unit.vault.tracebacks import readable

from deltaworks.errors import SetupError
from deltaworks.vault import CredentialNotFoundError
from deltaworks.vault.aws import SecretsManagerVault

if TYPE_CHECKING:
    from collections.abc import Iterator

AMZ_JSON = "application/x-amz-json-1.1"
SECRETS: dict[str, dict[str, str]] = {
    "prod/pg": {"SecretString": json.dumps({"user": "ana", "password": "canary-word", "port": 5432})},
    "prod/plain": {"SecretString": "canary-word"},
    "prod/number": {"SecretString": "12345"},
    "prod/list": {"SecretString": '["canary-word"]'},
    "prod/deep": {"SecretString": "[" * 100_000},
    "prod/nested": {"SecretString": '{"password": {"inner": "canary-word"}}'},
    "prod/bytes": {"SecretBinary": "Y2FuYXJ5"},
}


def answered(request: Request) -> Answer:
    """What the service says to GetSecretValue, as documented."""
    if request.headers.get("X-Amz-Target") != "secretsmanager.GetSecretValue":
        return Answer(400, {"__type": "UnknownOperationException"}, AMZ_JSON)
    name = json.loads(request.body)["SecretId"]
    if name not in SECRETS:
        return refused("ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
    arn = f"arn:aws:secretsmanager:eu-west-1:123456789012:secret:{name}-a1b2c3"
    return Answer(200, {"ARN": arn, "Name": name, "VersionId": "v", **SECRETS[name]}, AMZ_JSON)


def refused(kind: str, message: str = "canary-word", status: int = 400) -> Answer:
    return Answer(status, {"__type": kind, "Message": message}, AMZ_JSON)


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whom AWS's own tools would take us for."""
    nowhere = str(tmp_path_factory.getbasetemp() / "nothing")
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", nowhere)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", nowhere)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDCANARY")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-secret-key")


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback(answered) as found:
        yield found


def vault(server: Loopback, **values: Any) -> SecretsManagerVault:
    return SecretsManagerVault(**{"region": "eu-west-1", "prefix": "prod/", "endpoint": server.address, **values})


def shown(found: SecretsManagerVault, credential_id: str) -> dict[str, str]:
    return {name: value.get_secret_value() for name, value in found.get(credential_id).values.items()}


@pytest.mark.parametrize(
    ("credential_id", "values"),
    [
        ("pg", {"user": "ana", "password": "canary-word", "port": "5432"}),
        ("plain", {"password": "canary-word"}),
        ("number", {"password": "12345"}),
        ("list", {"password": '["canary-word"]'}),
        ("deep", {"password": "[" * 100_000}),
    ],
)
def test_a_secret_is_an_object_of_values_or_a_password(
    server: Loopback, credential_id: str, values: dict[str, str]
) -> None:
    assert shown(vault(server), credential_id) == values


def test_the_prefix_is_part_of_the_name(server: Loopback) -> None:
    assert shown(vault(server, prefix="prod/p"), "g")["user"] == "ana"


def test_requests_are_signed_for_the_region_and_hold_no_secret(server: Loopback) -> None:
    vault(server).get("pg")

    (request,) = server.requests
    signature = request.headers["Authorization"]
    assert signature.startswith("AWS4-HMAC-SHA256 Credential=AKIDCANARY/")
    assert "/eu-west-1/secretsmanager/aws4_request" in signature
    assert "Signature=" in signature
    assert "canary-secret-key" not in str(request)


def test_a_secret_that_is_not_there_says_where_was_looked(server: Loopback) -> None:
    with pytest.raises(CredentialNotFoundError, match="'nothing' in AWS Secrets Manager"):
        vault(server).get("nothing")


@pytest.mark.parametrize(
    "kind",
    ["AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException", "InvalidRequestException"],
)
def test_a_refusal_is_a_clear_error_that_repeats_nothing(kind: str) -> None:
    with loopback(lambda _: refused(kind)) as server, pytest.raises(SetupError, match=kind) as caught:
        vault(server).get("pg")

    assert "prod/pg" in caught.value.hint
    assert not isinstance(caught.value, CredentialNotFoundError)
    assert "canary" not in readable(caught.value)


@pytest.mark.parametrize(("credential_id", "problem"), [("nested", "is not text"), ("bytes", "holds bytes")])
def test_a_secret_of_another_shape_is_refused_and_not_shown(server: Loopback, credential_id: str, problem: str) -> None:
    with pytest.raises(SetupError, match=problem) as caught:
        vault(server).get(credential_id)

    assert "canary" not in readable(caught.value)


def test_a_service_that_is_not_there_is_a_clear_error() -> None:
    with loopback(answered) as server:
        pass

    with pytest.raises(SetupError, match="gave no answer: EndpointConnectionError") as caught:
        vault(server).get("pg")

    assert "canary" not in readable(caught.value)


def test_without_anybody_to_be_it_is_a_clear_error(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(SetupError, match="gave no answer: NoCredentialsError") as caught:
        vault(server).get("pg")

    assert "credentials or role" in caught.value.hint
    assert server.requests == []


def test_without_a_region_it_is_a_clear_error(server: Loopback) -> None:
    with pytest.raises(SetupError, match="gave no answer: NoRegionError") as caught:
        SecretsManagerVault().get("pg")

    assert "region" in caught.value.hint


def test_without_the_package_the_extra_is_named(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)

    with pytest.raises(SetupError, match="`boto3` is not installed") as caught:
        vault(server).get("pg")

    assert caught.value.hint == "Run `pip install 'deltaworks[aws]'`."


def test_a_printed_vault_shows_its_place_only(server: Loopback) -> None:
    assert "prod/" in repr(vault(server))
    assert "canary" not in repr(vault(server)) + repr(vault(server).get("pg"))
