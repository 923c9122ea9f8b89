"""The MariaDB server that other tests rely on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pymysql
import pytest

if TYPE_CHECKING:
    from tests.servers.mariadb import MariaDbServer


def test_its_user_makes_databases_and_tables(mariadb: MariaDbServer) -> None:
    name = mariadb.database("server-test")

    with mariadb.connect(name) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t AS SELECT 1 AS id")
        cursor.execute("SELECT * FROM t")
        assert cursor.fetchall() == ((1,),)


def test_a_wrong_password_is_refused(mariadb: MariaDbServer) -> None:
    with pytest.raises(pymysql.OperationalError, match="Access denied"):
        pymysql.connect(host=mariadb.host, port=mariadb.port, user=mariadb.user, password="wrong")


def test_its_certificate_proves_who_answers(mariadb: MariaDbServer) -> None:
    with (
        pymysql.connect(
            host=mariadb.host,
            port=mariadb.port,
            user=mariadb.user,
            password=mariadb.password,
            ssl_ca=str(mariadb.certificate),
            ssl_verify_cert=True,
            ssl_verify_identity=True,
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
        assert cursor.fetchall()[0][1]
