from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from deltaworks.errors import ConfigError, SetupError
from deltaworks.vault import Credential
from deltaworks.vault.storage import Sources, access_to
from deltaworks.vault.storage.s3 import S3Access

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = "s3a://lake/orders"
PAIR = {"access_key_id": "AK", "secret_access_key": "canary"}
BUCKET = "fs.s3a.bucket.lake"
KEYS = {"AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "canary"}


def credential(**values: str) -> Credential:
    return Credential("lake", {name: SecretStr(value) for name, value in values.items()})


def access(uri: str = ORDERS, **sources: Any) -> S3Access:
    found = access_to(uri, Sources(**sources))
    assert isinstance(found, S3Access)
    return found


def hadoop(**sources: Any) -> dict[str, str]:
    return {name.removeprefix(f"{BUCKET}."): value for name, value in access(**sources).to_hadoop().items()}


def test_one_credential_is_spelled_for_both_engines() -> None:
    found = access(credential=credential(**PAIR, endpoint="http://127.0.0.1:9000", region="eu-west-1"))

    assert found.to_hadoop() == {
        f"{BUCKET}.access.key": "AK",
        f"{BUCKET}.secret.key": "canary",
        f"{BUCKET}.aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
        f"{BUCKET}.endpoint": "http://127.0.0.1:9000",
        f"{BUCKET}.endpoint.region": "eu-west-1",
        f"{BUCKET}.path.style.access": "true",
        f"{BUCKET}.connection.ssl.enabled": "false",
        f"{BUCKET}.connection.timeout": "30s",
        f"{BUCKET}.attempts.maximum": "2",
        f"{BUCKET}.retry.limit": "4",
    }
    assert found.to_object_store() == {
        "aws_access_key_id": "AK",
        "aws_secret_access_key": "canary",
        "aws_endpoint_url": "http://127.0.0.1:9000",
        "aws_region": "eu-west-1",
        "aws_allow_http": "true",
        "aws_virtual_hosted_style_request": "false",
    }


def test_keys_that_expire_bring_their_token() -> None:
    found = access(credential=credential(**PAIR, session_token="brief"))

    assert found.to_hadoop()[f"{BUCKET}.session.token"] == "brief"
    assert "Temporary" in found.to_hadoop()[f"{BUCKET}.aws.credentials.provider"]
    assert found.to_object_store()["aws_session_token"] == "brief"
    assert found.secrets() == {"AK", "canary", "brief"}


@pytest.mark.parametrize("given", [{}, {"credential": credential(type="role", region="eu-west-1")}])
def test_without_keys_each_engine_asks_its_provider_chain(given: dict[str, Any]) -> None:
    found = access(**given)

    assert found.keys is None
    assert found.to_hadoop()[f"{BUCKET}.aws.credentials.provider"].endswith(".DefaultCredentialsProvider")
    assert not any("key" in name for name in found.to_object_store())


def test_a_role_takes_no_keys_from_the_environment() -> None:
    assert access(credential=credential(type="role"), environment=KEYS).keys is None


def test_keys_of_the_environment_are_used_where_nobody_says_otherwise() -> None:
    found = access(environment={**KEYS, "AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": "https://s3.example.com"})

    assert found.secrets() == {"AK", "canary"}
    assert (found.region, found.endpoint, found.path_style) == ("eu-west-1", "https://s3.example.com", True)


def test_keys_of_two_sources_do_not_mix() -> None:
    token = {**KEYS, "AWS_ACCESS_KEY_ID": "other", "AWS_SESSION_TOKEN": "theirs"}

    assert access(credential=credential(**PAIR), environment=token).secrets() == {"AK", "canary"}


def test_a_token_of_the_environment_that_delta_rs_would_send_along_is_refused() -> None:
    found = access(credential=credential(**PAIR), environment={"AWS_SESSION_TOKEN": "theirs"})

    assert "session.token" not in found.to_hadoop()
    with pytest.raises(SetupError, match="AWS_SESSION_TOKEN is set"):
        found.to_object_store()


def test_half_a_pair_of_keys_is_refused() -> None:
    with pytest.raises(ConfigError, match="credential 'lake' has access_key_id but no secret_access_key"):
        access(credential=credential(access_key_id="AK"))


def test_a_slip_in_a_credential_is_told() -> None:
    with pytest.raises(ConfigError, match="has 'secret_acess_key', which means nothing") as caught:
        access(credential=credential(access_key_id="AK", secret_acess_key="canary"))

    assert caught.value.hint == "Did you mean 'secret_access_key'?"
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"fs.s3a.endpoint": "http://a:1", "fs.s3a.path.style.access": "false", "fs.s3a.endpoint.region": "x"},
        {"fs.s3a.bucket.lake.endpoint": "http://a:1", "fs.s3a.endpoint": "http://b:2", "AWS_REGION": "x"}
        | {"AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true"},
        {"AWS_ENDPOINT_URL": "http://a:1", "aws_region": "x", "fs.s3a.bucket.lake.path.style.access": "false"},
    ],
)
def test_options_count_for_both_engines_in_either_spelling(options: dict[str, str]) -> None:
    found = access(options=options)

    assert (found.endpoint, found.region, found.path_style) == ("http://a:1", "x", False)


def test_options_only_one_engine_knows_go_to_that_one() -> None:
    options = {"fs.s3a.multipart.size": "5M", "fs.s3a.bucket.other.endpoint": "x", "AWS_S3_EXPRESS": "true"}
    found = access(options=options)

    assert found.to_hadoop()[f"{BUCKET}.multipart.size"] == "5M"
    assert found.to_object_store()["AWS_S3_EXPRESS"] == "true"
    assert "5M" not in found.to_object_store().values()
    assert found.endpoint is None


def test_the_credentials_endpoint_wins_over_the_files_and_the_plan_says_so() -> None:
    found = access(
        credential=credential(**PAIR, endpoint="http://a:1"),
        options={"fs.s3a.endpoint": "http://b:2", "AWS_REGION": "x"},
    )

    assert found.endpoint == "http://a:1"
    assert found.notes == ("endpoint is http://a:1, as credential 'lake' says; the file says http://b:2",)


def test_what_spark_was_given_counts_for_delta_rs_too() -> None:
    conf = {"fs.s3a.endpoint": "http://a:1", "fs.s3a.access.key": "AK", "fs.s3a.secret.key": "canary"}

    assert access(conf=conf).to_object_store()["aws_endpoint_url"] == "http://a:1"
    assert access(conf=conf).secrets() == {"AK", "canary"}


def test_the_callers_own_options_win_and_may_hold_keys() -> None:
    given = {**KEYS, "AWS_ENDPOINT_URL": "http://a:1", "max_retries": "0"}
    found = access(given=given, environment={"AWS_ENDPOINT_URL": "http://b:2", "AWS_ACCESS_KEY_ID": "x"})

    assert found.to_object_store()["aws_endpoint_url"] == "http://a:1"
    assert found.to_object_store()["max_retries"] == "0"
    assert found.secrets() == {"AK", "canary"}


@pytest.mark.parametrize(
    ("endpoint", "spelled", "path_style"),
    [
        ("minio:9000", "https://minio:9000", True),
        ("http://minio:9000/", "http://minio:9000", True),
        ("https://s3.eu-west-1.amazonaws.com", "https://s3.eu-west-1.amazonaws.com", False),
    ],
)
def test_an_endpoint_says_by_itself_how_buckets_are_named(endpoint: str, spelled: str, path_style: bool) -> None:
    found = access(options={"fs.s3a.endpoint": endpoint})

    assert (found.endpoint, found.path_style) == (spelled, path_style)


def test_a_flag_that_is_none_is_told() -> None:
    with pytest.raises(ConfigError, match="path_style_access is 'maybe'"):
        access(options={"fs.s3a.path.style.access": "maybe"})


def test_s3_and_s3a_are_the_same_bucket() -> None:
    assert access("s3://lake/a") == access("s3a://lake/b")


def test_patience_is_the_users_where_they_say_so() -> None:
    found = access(conf={"fs.s3a.retry.limit": "9"}, options={"fs.s3a.attempts.maximum": "1"}).to_hadoop()

    assert f"{BUCKET}.retry.limit" not in found
    assert found[f"{BUCKET}.attempts.maximum"] == "1"
    assert found[f"{BUCKET}.connection.timeout"] == "30s"


def test_no_secret_is_in_what_is_printed() -> None:
    found = access(credential=credential(**PAIR, session_token="brief"))

    assert "canary" not in repr(found)
    assert "brief" not in f"{found}"


def test_a_profile_of_the_machine_is_used_last(tmp_path: Path) -> None:
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/credentials").write_text("[work]\naws_access_key_id = AK\naws_secret_access_key = canary%\n")
    (tmp_path / ".aws/config").write_text("[profile work]\nregion = eu-west-1\nsso_start_url = x\n")
    environment = {"HOME": str(tmp_path), "AWS_PROFILE": "work"}

    found = access(environment=environment)

    assert (found.region, set(found.secrets())) == ("eu-west-1", {"AK", "canary%"})
    assert access(environment={"HOME": str(tmp_path)}).keys is None
    assert access(environment={**environment, "AWS_WEB_IDENTITY_TOKEN_FILE": "x"}).keys is None
    assert access(environment={**environment, **KEYS}).secrets() == {"AK", "canary"}


def test_a_profile_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(b"[\xff")

    assert access(environment={"AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "c")}).keys is None


def test_a_uri_without_a_bucket_is_refused() -> None:
    with pytest.raises(ConfigError, match="names no bucket"):
        access_to("s3a:///orders")


def test_a_local_path_needs_nothing() -> None:
    found = access_to("/data/orders", Sources(environment=KEYS))

    assert (found.place, found.to_hadoop(), found.to_object_store(), found.secrets()) == ("", {}, {}, frozenset())
