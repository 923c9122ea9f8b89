"""MariaDB as Debian packages it, started by the tests."""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pymysql

from tests.canaries import new_canary
from tests.servers.certificates import new_certificate
from tests.servers.keeper import free_port

if TYPE_CHECKING:
    from tests.servers.keeper import Run

SERVER = "/usr/sbin/mariadbd"


@dataclass(frozen=True, slots=True)
class MariaDbServer:
    """Where the server is, and who may do everything on it."""

    port: int
    certificate: Path
    user: str
    password: str = field(repr=False)
    host: str = "127.0.0.1"

    def connect(self, database: str | None = None) -> pymysql.Connection[Any]:
        """A connection that commits each statement."""
        return pymysql.connect(
            host=self.host,
            port=self.port,
            user=self.user,
            password=self.password,
            database=database,
            autocommit=True,
        )

    def database(self, name: str) -> str:
        """Make a database."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4")
        return name


def mariadb_server(run: Run) -> MariaDbServer:
    """The MariaDB server of this run of the tests."""
    facts = run.once("mariadb", lambda folder: _start(run, folder))
    return MariaDbServer(facts["port"], Path(facts["certificate"]), facts["user"], facts["password"])


def _start(run: Run, folder: Path) -> dict[str, object]:
    proof, password, port = new_certificate(folder), new_canary(run.folder), free_port()
    us = pwd.getpwuid(os.geteuid()).pw_name
    data = [f"--datadir={folder / 'data'}", f"--user={us}"]
    made = ["--auth-root-authentication-method=normal", "--skip-test-db"]
    subprocess.run(["mariadb-install-db", "--no-defaults", *data, *made], check=True, capture_output=True)
    first = folder / "first.properties"  # named so that a search for secrets passes over it
    first.touch(mode=0o600)
    escaped = password.replace("'", "''")
    first.write_text(
        f"CREATE USER 'test'@'127.0.0.1' IDENTIFIED BY '{escaped}';\nGRANT ALL ON *.* TO 'test'@'127.0.0.1';\n",
        encoding="utf-8",
    )
    words = [
        f"--port={port}",
        "--bind-address=127.0.0.1",
        f"--socket={folder / 's.sock'}",
        "--skip-name-resolve",
        f"--init-file={first}",
        "--innodb-flush-log-at-trx-commit=0",
        f"--ssl-cert={proof.certificate}",
        f"--ssl-key={proof.key}",
    ]
    run.keep([SERVER, "--no-defaults", *data, *words], folder / "log", port)
    return {"port": port, "user": "test", "password": password, "certificate": str(proof.certificate)}
