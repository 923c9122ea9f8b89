"""What several families of tests share."""

from __future__ import annotations

import os
import signal
import sys
import uuid
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.servers.database import TestDatabase
    from tests.servers.faults.client import Faults
    from tests.servers.kafka import KafkaServer
    from tests.servers.keeper import Run
    from tests.servers.mariadb import MariaDbServer
    from tests.servers.postgres import PostgresServer
    from tests.servers.s3 import S3Server
    from tests.servers.topic import TestTopic
    from tests.unit.cli.outcome import Cli


def pytest_configure() -> None:
    """Let Ctrl-C reach the commands under test, even where we were started in the background, which ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Cli]:
    """Call `deltaworks` in this process and an empty folder, on a terminal nobody looks at."""
    from deltaworks.cli.main import main
    from tests.unit.cli.outcome import Outcome

    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR", "JAVA_HOME", "DELTAWORKS_MASTER", "DELTAWORKS_VAULT_PASSPHRASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["deltaworks", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        return Outcome(int(left.value.code or 0), printed.out, printed.err)

    before = signal.getsignal(signal.SIGTERM)
    yield call
    signal.signal(signal.SIGTERM, before)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a test process of pytest-xdist with whom the whole run ends."""
    node.workerinput["run"] = os.getpid()


@pytest.fixture(scope="session")
def whole_run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """This run of the tests, which may be several processes."""
    from tests.servers.keeper import Run

    folder = tmp_path_factory.getbasetemp()
    if worker := getattr(request.config, "workerinput", None):
        return Run(folder.parent / "servers", worker["run"])
    return Run(folder / "servers", os.getpid())


@pytest.fixture(scope="session")
def s3(whole_run: Run) -> S3Server:
    """The S3 server of this run, shared by all its processes."""
    from tests.servers.s3 import s3_server

    return s3_server(whole_run)


@pytest.fixture(scope="session")
def postgres(whole_run: Run) -> PostgresServer:
    """The PostgreSQL server of this run, shared by all its processes."""
    from tests.servers.postgres import postgres_server

    return postgres_server(whole_run)


@pytest.fixture(scope="session")
def mariadb(whole_run: Run) -> MariaDbServer:
    """The MariaDB server of this run, shared by all its processes."""
    from tests.servers.mariadb import mariadb_server

    return mariadb_server(whole_run)


@pytest.fixture(scope="session")
def kafka(whole_run: Run) -> KafkaServer:
    """The Kafka broker of this run, shared by all its processes."""
    from tests.servers.kafka import kafka_server

    return kafka_server(whole_run)


@pytest.fixture
def topic(kafka: KafkaServer) -> TestTopic:
    """A new topic of two partitions for this test alone."""
    from tests.servers.topic import new_topic

    return new_topic(kafka)


@pytest.fixture
def pg(postgres: PostgresServer) -> TestDatabase:
    """A new PostgreSQL database for this test alone."""
    from tests.servers.database import TestDatabase

    return TestDatabase("PostgreSQL", postgres, postgres.database(f"test-{uuid.uuid4().hex[:12]}"))


@pytest.fixture
def my(mariadb: MariaDbServer) -> TestDatabase:
    """A new MariaDB database for this test alone."""
    from tests.servers.database import TestDatabase

    return TestDatabase("MySQL", mariadb, mariadb.database(f"test-{uuid.uuid4().hex[:12]}"))


@pytest.fixture
def bucket(s3: S3Server) -> str:
    """A new bucket for this test alone."""
    return s3.bucket(f"test-{uuid.uuid4().hex[:12]}")


@pytest.fixture
def faults(whole_run: Run, s3: S3Server, bucket: str) -> Iterator[Faults]:
    """Faults between this test and its bucket, met by whoever uses `faults.s3` in place of `s3`."""
    from tests.servers.faults.client import faults_of

    with faults_of(bucket, whole_run, s3) as asked:
        yield asked


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The one Spark session of this test process."""
    from deltaworks.api import cache_folder
    from deltaworks.spark.session import close_session, open_session
    from deltaworks.spark.settings import SparkSettings

    # Tests are many small queries: to generate code for each of them costs more than to run it without.
    conf = {
        "spark.driver.memory": "3g",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        # Searched for secrets when the run ends.
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": str(tmp_path_factory.mktemp("events")),
    }
    groups = frozenset({"delta", "s3", "avro", "kafka", "postgres", "mysql"})
    session = open_session(SparkSettings(cache=cache_folder(os.environ), master="local[2]", conf=conf, groups=groups))
    yield session
    close_session(session)
