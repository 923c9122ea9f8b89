"""Where a database is: out of fields or a url, of which nothing dangerous gets through."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from deltaworks.errors import ConfigError
from deltaworks.spark.databases import database_of
from deltaworks.spark.databases.address import parsed, refuse_dangerous, refuse_java_only, settled
from deltaworks.vault.credential import Credential


def credential(**values: str) -> Credential:
    return Credential("pg", {name: SecretStr(value) for name, value in values.items()})


@pytest.mark.parametrize(
    ("url", "scheme", "host", "port", "database"),
    [
        ("jdbc:postgresql://db:5433/shop", "postgresql", "db", 5433, "shop"),
        ("jdbc:postgresql://db/shop%20two?connectTimeout=5", "postgresql", "db", None, "shop two"),
        ("jdbc:mysql://[::1]:3307/shop", "mysql", "::1", 3307, "shop"),
        ("jdbc:derby:memory:x;create=true", "derby", None, None, "memory:x;create=true"),
        ("jdbc:sqlserver://db:1433;databaseName=shop", "sqlserver", "db", 1433, None),
        ("jdbc:oracle:thin:@db:1521/shop", "oracle", None, None, "thin:@db:1521/shop"),
    ],
)
def test_a_url_is_taken_apart(url: str, scheme: str, host: str | None, port: int | None, database: str | None) -> None:
    found = parsed(url)

    assert found.scheme == scheme
    if database_of(scheme):
        assert (found.host, found.port, found.database) == (host, port, database)


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql://db/shop?socketFactory=org.springframework.context.support.ClassPathXmlApplicationContext",
        "jdbc:postgresql://db/shop?sslfactory=x",
        "jdbc:postgresql://db/shop?loggerFile=/etc/cron.d/x",
        "jdbc:postgresql://db/shop?authenticationPluginClassName=x",
        "jdbc:mysql://db/shop?autoDeserialize=true",
        "jdbc:mysql://db/shop?queryInterceptors=x",
        "jdbc:mysql://db/shop?allowLoadLocalInfile=true",
        "jdbc:mysql://db/shop?a=1&ALLOWLOADLOCALINFILE=true",
        "jdbc:mariadb://db/shop?allowLocalInfile=true",
        "jdbc:mysql://db/shop?allow%4coadLocalInfile=true",
        "jdbc:h2:mem:x;INIT=RUNSCRIPT FROM 'http://x'",
        "jdbc:h2:mem:x;a=1;init=x",
        "jdbc:db2://db/x:clientRerouteServerListJNDIName=ldap://x;traceFile=x",
    ],
)
def test_a_property_that_could_run_code_or_read_files_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="could run code or read files"):
        parsed(url)


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql://me:secret@db/shop",
        "jdbc:postgresql://db/shop?user=me&password=secret",
        "jdbc:sqlserver://db;user=me",
        "jdbc:mysql://db/shop?trustStorePassword=secret",
    ],
)
def test_a_login_in_a_url_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parsed(url)
    assert "secret" not in str(refused.value) + refused.value.hint
    assert refused.value.hint == "Keep user and password in a credential, and name its id."


@pytest.mark.parametrize("url", ["postgresql://db/shop", "jdbc:", "", "jdbc:postgresql://db:x/shop"])
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        parsed(url)


def test_options_that_are_harmless_pass() -> None:
    refuse_dangerous(["queryTimeout", "pushDownPredicate", "customSchema", "connectTimeout", "sslmode"])


def test_a_credential_wins_over_the_file_and_that_is_said() -> None:
    found = settled(
        {"host": "a", "port": "1", "database": "d"}, credential(host="b", username="me", password="pw"), None, 5432
    )

    assert (found.host, found.port, found.database, found.user) == ("b", 1, "d", "me")
    assert found.notes == ("host is b, as credential 'pg' says; the file says a",)
    assert found.login() == {"user": "me", "password": "pw"}
    assert "pw" not in repr(found)


def test_a_url_is_what_the_file_says() -> None:
    found = settled({}, None, parsed("jdbc:postgresql://db:5433/shop?connectTimeout=5"), 5432)

    assert (found.host, found.port, found.database) == ("db", 5433, "shop")
    assert found.properties == {"connectTimeout": "5"}


@pytest.mark.parametrize(
    ("properties", "mode", "trusted"),
    [
        ("sslmode=verify-full&sslrootcert=/ca.pem", "verify-full", "/ca.pem"),
        ("sslMode=VERIFY_IDENTITY&serverSslCert=/ca.pem", "verify-full", "/ca.pem"),
        ("sslMode=trust", "require", None),
        ("sslMode=PREFERRED", "prefer", None),
        ("", None, None),
    ],
)
def test_what_a_url_says_of_encryption_holds_for_every_connection(
    properties: str, mode: str | None, trusted: str | None
) -> None:
    found = settled({}, None, parsed(f"jdbc:postgresql://db/shop?{properties}"), 5432)

    assert (found.ssl_mode, found.ssl_root_cert, found.properties) == (mode, trusted, {})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("currentSchema", "schemaName"),
        ("options", "sessionInitStatement"),
        ("sessionVariables", "sessionInitStatement"),
        ("sslkey", "sslMode"),
        ("useSSL", "sslMode"),
        ("trustServerCertificate", "sslMode"),
    ],
)
def test_a_property_that_only_java_would_know_is_refused(name: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=f"(?i){name}") as refused:
        refuse_java_only(parsed(f"jdbc:postgresql://db/shop?{name}=x"))
    assert hint in refused.value.hint


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"database": "d"}, "Nobody says which host it is."),
        ({"host": "h"}, "Nobody says which database it is."),
        ({"host": "h", "database": "d", "port": "no"}, "The port is no number"),
        ({"host": "h", "database": "d", "port": "70000"}, "The port is no number"),
        ({"host": "h", "database": "d", "ssl_mode": "maybe"}, "sslMode is 'maybe'."),
    ],
)
def test_an_address_that_is_not_whole_is_refused(said: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        settled(said, None, None, 5432)


def test_a_slip_in_a_credential_is_told() -> None:
    with pytest.raises(ConfigError, match="'passwort'") as refused:
        settled({"host": "h", "database": "d"}, credential(passwort="x"), None, 5432)
    assert refused.value.hint == "Did you mean 'password'?"
