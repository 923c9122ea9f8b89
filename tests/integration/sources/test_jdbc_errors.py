"""What is said when a database cannot be read, and that nothing was written then."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.canaries import new_canary
from tests.integration.databases import pipeline
from tests.servers.certificates import new_certificate

import deltaworks
from deltaworks.errors import DeltaworksError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.servers.database import TestDatabase
    from tests.servers.keeper import Run


pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture
def database(database: TestDatabase) -> TestDatabase:
    """A database of each kind, with a table."""
    database.run("CREATE TABLE users (id int primary key)", "INSERT INTO users VALUES (1)")
    return database


def failed(
    spark: SparkSession,
    database: TestDatabase,
    target: Path,
    *,
    credential: dict[str, str] | None = None,
    **params: Any,
) -> DeltaworksError:
    """How a run fails; the table must not be there afterwards."""
    vault = deltaworks.MemoryVault({"db": database.credential | (credential or {})})
    with pytest.raises(DeltaworksError) as caught:
        deltaworks.run(pipeline(database, target, **params), spark=spark, vault=vault)
    assert not list(target.glob("_delta_log/*.json"))
    return caught.value


def test_a_wrong_password_is_told_without_it(
    spark: SparkSession, database: TestDatabase, tmp_path: Path, whole_run: Run
) -> None:
    wrong = new_canary(whole_run.folder)
    error = failed(spark, database, tmp_path / "t", credential={"password": wrong}, table="users")

    assert error.exit_code == 3
    assert re.search(f"{database.kind} at 127.0.0.1:.* cannot be reached: .*(password|denied)", str(error))
    assert error.hint == "Check host, port, database, and the user and password of the credential."
    assert wrong not in str(error) + error.hint


@pytest.mark.parametrize(
    "where",
    [{"host": "nowhere.invalid"}, {"port": "1"}, {"database": "no such database"}],
    ids=lambda each: next(iter(each)),
)
def test_a_place_that_is_not_there_is_told_at_once(
    spark: SparkSession, database: TestDatabase, tmp_path: Path, where: dict[str, str]
) -> None:
    started = time.monotonic()
    error = failed(spark, database, tmp_path / "t", credential=where, table="users")

    assert error.exit_code == 3
    assert f"{database.kind} at {where.get('host', '127.0.0.1')}:" in str(error)
    assert time.monotonic() - started < 12


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"table": "user"}, "user"),
        ({"table": "users", "schemaName": "nope"}, "nope"),
        ({"query": "SELECT nope FROM users"}, "nope"),
        ({"query": "SELEKT 1"}, "syntax"),
        ({"query": "SELECT 1 UNION SELECT 1, 2"}, "columns"),
        ({"table": "users", "partitionColumn": "nope"}, "nope"),
    ],
)
def test_a_table_or_column_that_is_not_there_is_a_mistake_of_the_file(
    spark: SparkSession, database: TestDatabase, tmp_path: Path, params: dict[str, Any], said: str
) -> None:
    error = failed(spark, database, tmp_path / "t", **params)

    assert error.exit_code == 2
    assert str(error).startswith(f"extract: {database.kind} says: ")
    assert said in str(error)


def test_what_a_url_says_of_trust_counts_for_every_connection(
    spark: SparkSession, database: TestDatabase, tmp_path: Path
) -> None:
    other, login = new_certificate(tmp_path).certificate, database.credential
    scheme = database.kind.lower()
    names = ("sslmode", "sslrootcert") if scheme == "postgresql" else ("sslMode", "serverSslCert")
    url = f"jdbc:{scheme}://localhost:{login['port']}/{database.name}?{names[0]}=verify-full&{names[1]}={other}"
    vault = deltaworks.MemoryVault({"db": {name: login[name] for name in ("username", "password")}})
    with pytest.raises(DeltaworksError, match="cannot be reached") as refused:
        deltaworks.run(pipeline(database, tmp_path / "t", table="users", url=url), spark=spark, vault=vault)

    assert refused.value.exit_code == 3


@pytest.mark.parametrize(
    ("where", "params"), [({}, {"sslMode": "verify-full", "sslRootCert": "/not/there.pem"}), ({"host": "no..name"}, {})]
)
def test_a_way_there_that_cannot_be_is_told(
    spark: SparkSession, database: TestDatabase, tmp_path: Path, where: dict[str, str], params: dict[str, Any]
) -> None:
    error = failed(spark, database, tmp_path / "t", credential=where, table="users", **params)

    assert error.exit_code == 3
    assert "cannot be reached" in str(error)


def test_a_right_that_is_missing_is_told(spark: SparkSession, pg: TestDatabase, tmp_path: Path) -> None:
    pg.run("CREATE TABLE users (id int)", "DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN PASSWORD 'guest-guest'")
    error = failed(
        spark, pg, tmp_path / "t", credential={"username": "guest", "password": "guest-guest"}, table="users"
    )

    assert error.exit_code == 3
    assert str(error) == "extract: PostgreSQL refuses: permission denied for table users"


def test_a_missing_package_is_told(
    spark: SparkSession, database: TestDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, extra = ("psycopg", "postgres") if database.kind == "PostgreSQL" else ("pymysql", "mysql")
    monkeypatch.setitem(__import__("sys").modules, package, None)
    error = failed(spark, database, tmp_path / "t", table="users")

    assert (error.exit_code, error.hint) == (3, f"Run `pip install 'deltaworks[{extra}]'`.")


def test_a_connection_that_is_lost_in_mid_read_fails_the_run_and_writes_nothing(
    spark: SparkSession, database: TestDatabase, tmp_path: Path
) -> None:
    slow = "pg_sleep(0.01)" if database.kind == "PostgreSQL" else "SLEEP(0.01)"
    numbers = "generate_series(1, 2000) AS n" if database.kind == "PostgreSQL" else "seq_1_to_2000 AS s"
    killer = threading.Thread(target=_end_readers, args=(database,))
    killer.start()
    error = failed(
        spark, database, tmp_path / "t", query=f"SELECT CAST({slow} AS CHAR(1)) AS c FROM {numbers}", fetchSize=10
    )
    killer.join()

    assert error.exit_code == 1
    assert database.server.password not in str(error)


def _end_readers(database: TestDatabase) -> None:
    """End the connection that has been reading for a moment."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if database.kind == "PostgreSQL":
            found = database.rows(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
                "AND query LIKE '%generate_series%' AND pid <> pg_backend_pid() "
                "AND now() - xact_start > interval '0.5 s'"
            )
        else:
            found = database.rows(
                "SELECT id FROM information_schema.processlist WHERE info LIKE '%seq_1_to_2000%' "
                "AND db = database() AND id <> connection_id() AND time_ms > 500"
            )
        for (number,) in found:
            database.end(number)
        if found:
            return
        time.sleep(0.05)
