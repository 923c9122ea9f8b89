"""The PostgreSQL server that other tests rely on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from tests.servers.postgres import PostgresServer


def test_the_owner_makes_databases_and_tables(postgres: PostgresServer) -> None:
    name = postgres.database("server-test")

    with postgres.connect(name) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS id")
        assert connection.execute("SELECT * FROM t").fetchall() == [(1,)]


def test_a_wrong_password_is_refused(postgres: PostgresServer) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(host=postgres.host, port=postgres.port, user=postgres.user, password="wrong", dbname="postgres")


def test_its_certificate_proves_who_answers(postgres: PostgresServer) -> None:
    with psycopg.connect(
        host=postgres.host,
        port=postgres.port,
        user=postgres.user,
        password=postgres.password,
        dbname="postgres",
        sslmode="verify-full",
        sslrootcert=str(postgres.certificate),
    ) as connection:
        assert connection.execute("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").fetchone() == (True,)
