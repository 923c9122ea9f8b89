from __future__ import annotations

import re
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization as spelled
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from tests.servers.certificates import new_certificate

from deltaworks.errors import ConfigError
from deltaworks.spark.kafka.login import TO_HIDE, Login, Said, login_of
from deltaworks.vault.credential import Credential

FILE = Said(servers="file:9092")


def credential(**values: str) -> Credential:
    return Credential("kafka", {name: SecretStr(value) for name, value in values.items()})


def login(said: Said = FILE, /, **values: str) -> Login:
    return login_of(credential(**values) if values else None, said)


def test_without_a_credential_nothing_is_guarded() -> None:
    found = login()

    assert found.to_spark() == {"kafka.bootstrap.servers": "file:9092", "kafka.security.protocol": "PLAINTEXT"}
    assert found.to_librdkafka() == {"bootstrap.servers": "file:9092", "security.protocol": "PLAINTEXT"}
    assert found.notes == ()


def test_a_login_is_spelled_for_both_clients() -> None:
    found = login(username="ana", password="s3cret", mechanism="scram-sha-512")

    assert found.to_spark() == {
        "kafka.bootstrap.servers": "file:9092",
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="ana" password="s3cret";',
    }
    assert found.to_librdkafka() == {
        "bootstrap.servers": "file:9092",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "ana",
        "sasl.password": "s3cret",
    }


@pytest.mark.parametrize(
    ("password", "jaas"),
    [
        ('a"b', r'"a\"b"'),
        ("a\\b", r'"a\\b"'),
        ('\\"', r'"\\\""'),
        ("a;b'c", '"a;b\'c"'),
        ("ü €", '"ü €"'),
        ("two\nlines\r", r'"two\nlines\r"'),
    ],
)
def test_signs_that_mean_something_to_java_are_escaped(password: str, jaas: str) -> None:
    found = login(username="ana", password=password)

    assert f"password={jaas};" in found.to_spark()["kafka.sasl.jaas.config"]
    assert found.to_librdkafka()["sasl.password"] == password


@given(st.text(min_size=1))
def test_whatever_a_password_holds_it_is_hidden_where_java_shows_its_settings(password: str) -> None:
    jaas = login(username="ana", password=password).to_spark()["kafka.sasl.jaas.config"]

    shown = re.sub(TO_HIDE, "•", f"{{acks=all, sasl.jaas.config={jaas}, linger.ms=0}}")

    assert shown == "{acks=all, •, linger.ms=0}"


def test_a_private_key_is_hidden_where_java_shows_its_settings(tmp_path: Any) -> None:
    made = new_certificate(tmp_path)
    found = login(certificate=made.certificate.read_text(), key=made.key.read_text())

    shown = re.sub(TO_HIDE, "•", str(found.to_spark()["kafka.ssl.keystore.key"]))

    assert shown == "•\n"


def test_a_login_shows_no_secret() -> None:
    assert "s3cret" not in repr(login(username="ana", password="s3cret"))


@pytest.mark.parametrize(
    "values",
    [
        {"bootstrap_servers": "a:1,b:2"},
        {"bootstrap.servers": "a:1,b:2"},
        {"kafka.bootstrap.servers": "a:1,b:2"},
        {"endpoint": "SASL_SSL://a:1,SASL_SSL://b:2"},
    ],
)
def test_the_servers_of_a_credential_win_and_the_plan_says_so(values: dict[str, str]) -> None:
    found = login(**values)

    assert found.servers == "a:1,b:2"
    assert found.notes == ("bootstrap_servers is a:1,b:2, as credential 'kafka' says; the file says file:9092",)


def test_a_credential_that_says_the_same_needs_no_note() -> None:
    assert login(bootstrap_servers="file:9092").notes == ()
    assert login(Said(), bootstrap_servers="a:1").notes == ()


@pytest.mark.parametrize(
    ("values", "servers"),
    [
        ({"host": "a"}, "a:9092"),
        ({"host": "a", "port": "93"}, "a:93"),
        ({"host": "[::1]"}, "[::1]:9092"),
        ({"host": "[::1]:93"}, "[::1]:93"),
    ],
)
def test_a_host_and_a_port_are_servers_too(values: dict[str, str], servers: str) -> None:
    assert login(Said(), **values).servers == servers


def test_a_cluster_that_nobody_names_is_refused() -> None:
    with pytest.raises(ConfigError, match="Nobody says where the Kafka cluster is"):
        login(Said(), username="ana", password="s3cret")


@pytest.mark.parametrize(
    ("values", "said", "protocol"),
    [
        ({}, None, "PLAINTEXT"),
        ({}, "ssl", "SSL"),
        ({"username": "a", "password": "b"}, None, "SASL_PLAINTEXT"),
        ({"username": "a", "password": "b"}, "SASL_SSL", "SASL_SSL"),
        ({"username": "a", "password": "b", "security_protocol": "SASL_SSL"}, "SASL_PLAINTEXT", "SASL_SSL"),
        ({"user": "a", "password": "b", "security.protocol": "sasl_ssl"}, None, "SASL_SSL"),
        ({"username": "a", "password": "b", "ca": "CA"}, None, "SASL_SSL"),
        ({"ca": "CA"}, None, "SSL"),
        ({"certificate": "CA", "key": "KEY"}, None, "SSL"),
    ],
)
def test_the_protocol_follows_from_the_login_unless_it_is_said(
    tmp_path: Any, values: dict[str, str], said: str | None, protocol: str
) -> None:
    made = new_certificate(tmp_path)
    pem = {"CA": made.certificate.read_text(), "KEY": made.key.read_text()}
    found = login(Said(servers="a:1", protocol=said), **{name: pem.get(value, value) for name, value in values.items()})

    assert found.protocol == protocol


def test_a_password_that_travels_in_the_clear_is_noted() -> None:
    (note,) = login(username="ana", password="s3cret").notes

    assert note.startswith("nothing is encrypted on the way to Kafka")
    assert login(username="ana", password="s3cret", security_protocol="SASL_SSL").notes == ()


@pytest.mark.parametrize(
    ("values", "said", "wrong"),
    [
        ({"username": "a"}, None, "has username but no password"),
        ({"password": "a"}, None, "has password but no username"),
        ({"key": "a"}, None, "has key but no certificate"),
        ({"certificate": "a"}, None, "has certificate but no key"),
        ({"username": "a", "password": "b"}, "SSL", "security_protocol is SSL, with username and password"),
        ({}, "SASL_SSL", "security_protocol is SASL_SSL, without username and password"),
        ({}, "TLS", "security_protocol is 'TLS', which is unknown"),
        ({"ca": "a"}, "PLAINTEXT", "security_protocol is PLAINTEXT, with certificates"),
        ({"ca": "some/path.pem"}, None, "ca holds no certificate in PEM"),
        ({"jaas": "a"}, None, "has 'jaas', which means nothing"),
    ],
)
def test_a_login_that_is_not_whole_is_refused(values: dict[str, str], said: str | None, wrong: str) -> None:
    with pytest.raises(ConfigError, match=wrong):
        login(Said(servers="a:1", protocol=said), **values)


@pytest.mark.parametrize("mechanism", ["GSSAPI", "OAUTHBEARER", "AWS_MSK_IAM"])
def test_a_mechanism_that_is_not_ours_is_refused(mechanism: str) -> None:
    with pytest.raises(ConfigError, match=f"Logging in to Kafka by '{mechanism}' is not possible here") as caught:
        login(username="a", password="b", mechanism=mechanism)

    assert caught.value.hint == "Use PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, or TLS."


def test_the_file_may_name_the_mechanism() -> None:
    said = Said(servers="a:1", protocol="SASL_SSL", mechanism="SCRAM-SHA-256")

    assert login(said, username="a", password="b").mechanism == "SCRAM-SHA-256"


def test_certificates_are_spelled_for_both_clients(tmp_path: Any) -> None:
    made = new_certificate(tmp_path)
    proof, key = made.certificate.read_text(), made.key.read_text()
    found = login(**{"ssl.ca.pem": proof, "ssl.certificate.pem": proof, "ssl.key.pem": key})

    assert found.to_spark() == {
        "kafka.bootstrap.servers": "file:9092",
        "kafka.security.protocol": "SSL",
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.certificates": proof,
        "kafka.ssl.keystore.type": "PEM",
        "kafka.ssl.keystore.certificate.chain": proof,
        "kafka.ssl.keystore.key": key,
    }
    assert {name for name in found.to_librdkafka() if name.startswith("ssl.")} == {
        "ssl.ca.pem",
        "ssl.certificate.pem",
        "ssl.key.pem",
    }


def test_a_key_of_another_form_or_with_a_password_becomes_one_that_java_reads(tmp_path: Any) -> None:
    proof = new_certificate(tmp_path).certificate.read_text()
    key = rsa.generate_private_key(65537, 2048)
    locked = spelled.BestAvailableEncryption(b"open sesame")
    old = key.private_bytes(spelled.Encoding.PEM, spelled.PrivateFormat.TraditionalOpenSSL, locked).decode()

    found = login(certificate=proof, key=old, key_password="open sesame")

    assert (found.key or "").startswith("-----BEGIN PRIVATE KEY-----")
    with pytest.raises(ConfigError, match="key holds no private key in PEM, or key_password is wrong"):
        login(certificate=proof, key=old, key_password="wrong")


def test_the_name_of_a_server_is_checked_unless_the_file_says_otherwise() -> None:
    found = login_of(None, Said(servers="a:1", protocol="SSL", identification=""))

    assert found.to_spark()["kafka.ssl.endpoint.identification.algorithm"] == ""
    assert found.to_librdkafka()["ssl.endpoint.identification.algorithm"] == "none"


def test_only_what_proves_who_asks_is_a_secret() -> None:
    plain = {"bootstrap_servers": "a:1", "username": "ana", "mechanism": "PLAIN", "security.protocol": "SASL_SSL"}

    assert credential(**plain, password="s3cret").secrets() == {"s3cret"}
