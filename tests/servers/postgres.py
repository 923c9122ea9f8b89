"""PostgreSQL as Debian packages it, started by the tests; as root it runs as the user of the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from tests.canaries import new_canary
from tests.servers.certificates import new_certificate
from tests.servers.keeper import PATIENCE, free_port

if TYPE_CHECKING:
    from tests.servers.keeper import Run

PROGRAMS = "/usr/lib/postgresql"
ACCOUNT = "postgres"


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """Where the server is, and who owns everything on it."""

    port: int
    certificate: Path
    user: str
    password: str = field(repr=False)
    host: str = "127.0.0.1"

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """A connection that commits each statement."""
        return psycopg.connect(
            host=self.host,
            port=self.port,
            user=self.user,
            password=self.password,
            dbname=database,
            autocommit=True,
        )

    def database(self, name: str) -> str:
        """Make a database."""
        with self.connect() as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return name


def postgres_server(run: Run) -> PostgresServer:
    """The PostgreSQL server of this run of the tests."""
    facts = run.once("postgres", lambda folder: _start(run, folder))
    return PostgresServer(facts["port"], Path(facts["certificate"]), facts["user"], facts["password"])


def _start(run: Run, folder: Path) -> dict[str, object]:
    scratch = _scratch()
    proof, password, port = new_certificate(scratch), new_canary(run.folder), free_port()
    secret = scratch / "password"
    secret.touch(mode=0o600)
    secret.write_text(password, encoding="utf-8")
    _give_away(scratch)
    data = scratch / "data"
    programs = max(Path(PROGRAMS).glob("*/bin"), key=lambda path: int(path.parent.name))
    made = ["-D", str(data), "-U", "test", "-E", "UTF8", "--auth=scram-sha-256", f"--pwfile={secret}"]
    subprocess.run(
        [*_as_account(), programs / "initdb", *made, "--no-locale", "--no-sync"], check=True, capture_output=True
    )
    settings = {
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": scratch,
        "fsync": "off",
        "ssl": "on",
        "ssl_cert_file": proof.certificate,
        "ssl_key_file": proof.key,
    }
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    command = [*_as_account(), str(programs / "postgres"), "-D", str(data), "-p", str(port), *words]
    run.keep(command, folder / "log", port, scratch)
    shown = shutil.copy(proof.certificate, folder / "server.crt")
    found = {"port": port, "user": "test", "password": password, "certificate": str(shown)}
    _require_ready(PostgresServer(port, Path(shown), "test", password))
    return found


def _scratch() -> Path:
    """A folder that another user may reach, unlike those of the tests."""
    folder = Path(tempfile.mkdtemp(prefix="deltaworks-postgres-"))
    folder.chmod(0o755)
    return folder


def _give_away(folder: Path) -> None:
    if os.geteuid() == 0:
        for path in (folder, *folder.iterdir()):
            shutil.chown(path, ACCOUNT, ACCOUNT)


def _as_account() -> list[str]:
    """What lets a command run as the user of the package: PostgreSQL refuses to be root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--init-groups", "--pdeathsig", "KILL", "--"]


def _require_ready(server: PostgresServer) -> None:
    """Wait until it lets somebody in: its port answers a little before."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            server.connect().close()
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
