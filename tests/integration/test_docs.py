"""Every example of the reference runs, and every key has one."""

from __future__ import annotations

import json
import re
import shutil
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from tools import docs
from tools.examples import FOLDER, PROJECT

import deltaworks
from deltaworks.lake.after import After
from deltaworks.lake.expectation import Expectation
from deltaworks.pipeline.config import PipelineConfig
from deltaworks.pipeline.project import Environment, ProjectConfig
from deltaworks.pipeline.records import RunsPlace
from deltaworks.pipeline.spark import SparkConfig
from deltaworks.pipeline.vaults import VAULTS
from deltaworks.spark.sinks import SINKS
from deltaworks.spark.sources import SOURCES
from deltaworks.spark.transforms import TRANSFORMS
from deltaworks.spark.transforms.aggregation import Aggregation
from tests.integration.s3.lake import credential
from tests.servers.database import TestDatabase
from tests.servers.topic import new_topic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from deltaworks.lake.model import FileModel
    from deltaworks.runs.result import RunResult
    from tests.servers.kafka import KafkaServer
    from tests.servers.mariadb import MariaDbServer
    from tests.servers.postgres import PostgresServer
    from tests.servers.s3 import S3Server
    from tests.servers.topic import TestTopic

# Each with the rows it inserts, in the order they run: some read what others have written.
EXAMPLES = {
    "csv-to-delta": 2,
    "upsert": 1,
    "version": 2,
    "feed": 2,
    "feed-inserts": 2,
    "time": 2,
    "feed-times": 2,
    "new-rows": 2,
    "changes": 2,
    "join": 1,
    "nested": 3,
    "pivot": 2,
    "python": 2,
    "summary": 1,
    "window": 2,
    "expect": 1,
    "after": 2,
    "after-inside": 2,
    "upsert-columns": 1,
    "overwrite-schema": 2,
    "replace-partitions": 1,
    "new-table": 2,
    "replace-where": 1,
    "upsert-trusted": 0,
    "to-name": 2,
    "from-name": 2,
    "csv-to-avro": 3,
    "promised": 3,
    "bad-records": 2,
    "new-files": 2,
    "to-s3": 2,
    "to-s3-alone": 2,
    "from-postgres": 2,
    "from-postgres-tables": 2,
    "from-mysql-query": 1,
    "from-jdbc": 2,
    "new-sales": 2,
    "changed-sales": 2,
    "to-postgres": 1,
    "to-mysql": 2,
    "from-kafka": 2,
    "from-kafka-offsets": 2,
    "new-records": 2,
    "from-kafka-times": 4,
    "from-kafka-avro": 2,
    "to-kafka": 1,
    "to-kafka-avro": 2,
    "to-kafka-schema": 2,
}
PAGES = sorted(docs.ROOT.glob("docs/**/*.md"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("docs")
    shutil.copytree(FOLDER, found, dirs_exist_ok=True)
    (found / "in").mkdir()
    (found / "in/orders.csv").write_text(
        "id,customer,amount,ordered,note\n1,ann,150.00,2024-01-01,x\n2,bob,20.50,2024-01-02,\n3,cy,,2024-01-02,\n"
    )
    (found / "in/changes.json").write_text(
        '{"id": 1, "customer": "ann", "amount": 1.5, "at": "2024-01-01T00:00:00Z", "cancelled": false}\n'
        '{"id": 2, "customer": "bob", "amount": 2.5, "at": "2024-01-01T00:00:00Z", "cancelled": true}\n'
    )
    (found / "in/corrections.json").write_text(
        '{"id": 1, "customer": "ann", "amount": 7.0, "at": "2024-01-02T00:00:00Z"}\n'
        '{"id": 1, "customer": "ann", "amount": 8.0, "at": "2024-01-03T00:00:00Z"}\n'
        '{"id": 4, "customer": "dan", "amount": 9.0, "at": "2024-01-03T00:00:00Z"}\n'
    )
    (found / "in/arrivals").mkdir()
    for number in (1, 2):
        row = {"id": number, "customer": "ann", "amount": 1.5}
        (found / f"in/arrivals/{number}.json").write_text(json.dumps(row))
    (found / "in/readings.csv").write_text("sensor,value\na,1.5\nb,warm\nc,2.5\n")
    (found / "in/customers.json").write_text('{"customer": "ann", "country": "de", "since": "2023-01-01"}\n')
    (found / "in/messages.json").write_text(
        """{"body": "{'id': 1, 'at': '31.12.2024', 'items': ['a', 'b']}", "tags": "{'x': 1}"}\n"""
        """{"body": "{'id': 2", "tags": "none"}\n"""
    )
    return found


@pytest.fixture(scope="module")
def shops(postgres: PostgresServer, mariadb: MariaDbServer) -> tuple[TestDatabase, TestDatabase]:
    """The databases that examples read and write."""
    found = (
        TestDatabase("PostgreSQL", postgres, postgres.database("docs")),
        TestDatabase("MySQL", mariadb, mariadb.database("docs")),
    )
    for shop in found:
        shop.run(
            "CREATE TABLE orders (id bigint primary key, amount decimal(9,2), ordered date)",
            "INSERT INTO orders VALUES (1, 150.00, '2024-01-01'), (2, 20.50, '2024-01-02')",
            "CREATE TABLE customers (id bigint)",
        )
    return found


@pytest.fixture(scope="module")
def topics(kafka: KafkaServer) -> dict[str, TestTopic]:
    """The topics that examples read and write."""
    names = ("shop-orders", "shop-events", "shop-avro-a", "shop-avro-b", "shop-changes", "shop-out")
    found = {name: new_topic(kafka, 2, name) for name in names}
    december, january = 1703980800000, 1704067200000
    found["shop-orders"].send({"id": 1, "amount": 1.5}, {"id": 2, "amount": 2.5}, key="ann", at=january)
    found["shop-orders"].send({"id": 1, "amount": 7.5}, key="ann", at=january)
    found["shop-events"].send({"id": 0}, {"id": 1, "customer": "ann"}, b"no JSON", None, {"id": 9}, at=december)
    found["shop-events"].send({"id": 2, "at": "2024-01-01T00:00:00Z"}, partition=1, at=january)
    for number, name in enumerate(("shop-avro-a", "shop-avro-b")):
        found[name].send(b"\x00\x00\x00\x00\x01" + bytes([2 * number]) + b"\x02\x06ann")
    return found


@pytest.fixture(scope="module")
def surroundings(
    spark: SparkSession, folder: Path, shops: tuple[TestDatabase, TestDatabase], topics: dict[str, TestTopic]
) -> dict[str, str]:
    """What examples take from the environment."""
    pg, derby = shops[0], f"{folder}/derby"
    driver = "org.apache.derby.iapi.jdbc.AutoloadedDriver"
    options = {"url": f"jdbc:derby:{derby};create=true", "dbtable": "ORDERS", "driver": driver}
    spark.range(2).write.format("jdbc").options(**options).save()
    return {
        "DERBY": derby,
        "PG_HOST": pg.server.host,
        "PG_PORT": str(pg.server.port),
        "PG_DATABASE": pg.name,
        "PG_CERTIFICATE": str(pg.server.certificate),
        "KAFKA": topics["shop-orders"].server.plain,
    }


@pytest.fixture(scope="module")
def results(
    spark: SparkSession,
    folder: Path,
    s3: S3Server,
    kafka: KafkaServer,
    shops: tuple[TestDatabase, TestDatabase],
    surroundings: dict[str, str],
) -> Iterator[dict[str, RunResult]]:
    vault = deltaworks.MemoryVault(
        {
            "lake": {"secret": "not needed for a local table"},
            "s3": credential(s3),
            "shop-db": shops[0].credential,
            "shop-mysql": shops[1].credential,
            "shop-kafka": {"bootstrap_servers": kafka.sasl, "username": kafka.user, "password": kafka.password},
        }
    )
    bucket = s3.bucket(f"docs-{uuid.uuid4().hex[:12]}")
    spark.sql(f"CREATE SCHEMA shop LOCATION '{folder}/shop'")

    def run(name: str) -> RunResult:
        made = (folder / "tables/orders").exists()
        when = deltaworks.open_table(folder / "tables/orders").log.times()[0] if made else datetime.now(UTC)
        variables = {"WHEN": when.isoformat(), "BUCKET": bucket, **surroundings}
        return deltaworks.run(folder / f"{name}.yaml", spark=spark, vault=vault, variables=variables)

    yield {name: run(name) for name in EXAMPLES}
    spark.sql("DROP SCHEMA shop CASCADE")


def test_every_example_runs_and_lands_rows(results: dict[str, RunResult], folder: Path) -> None:
    assert set(EXAMPLES) == {path.stem for path in FOLDER.glob("*.yaml") if path != PROJECT}
    assert {name: result.load.rows_inserted for name, result in results.items()} == EXAMPLES
    assert all(Path(result.record).is_relative_to(folder / "runs") for result in results.values())


def test_the_examples_do_what_their_first_lines_say(results: dict[str, RunResult], folder: Path) -> None:
    loads = {name: result.load for name, result in results.items()}
    archive = deltaworks.open_table(folder / "tables/archive")

    assert (loads["expect"].rows_set_aside, loads["expect"].rows_dropped) == (1, 1)
    assert {step.name for name in ("after", "after-inside") for step in results[name].after} == {"zOrder", "vacuum"}
    assert all(step.success for result in results.values() for step in result.after)
    assert (loads["upsert-columns"].rows_updated, loads["upsert-columns"].rows_superseded) == (1, 1)
    assert (loads["overwrite-schema"].rows_deleted, loads["replace-partitions"].rows_deleted) == (2, 1)
    assert (loads["replace-where"].rows_deleted, loads["upsert-trusted"].rows_updated) == (1, 2)
    assert loads["bad-records"].rows_set_aside == 1
    assert [part.load.rows_inserted for part in results["from-postgres-tables"].parts] == [2, 0]
    assert (loads["to-postgres"].rows_set_aside, loads["to-mysql"].rows_inserted) == (1, 2)
    assert (loads["from-kafka"].rows_superseded, loads["from-kafka-offsets"].rows_set_aside) == (1, 1)
    assert loads["to-kafka"].rows_set_aside == 1
    assert deltaworks.open_table(folder / "tables/changes-aside").rows == 1
    assert len(list(folder.glob("files/orders/ordered=2024-01-0[12]/*.zstandard.avro"))) == 2
    assert archive.properties["delta.logRetentionDuration"] == "interval 60 days"
    assert (archive.rows, deltaworks.open_table(folder / "tables/current").rows) == (2, 2)


def test_the_python_page_runs_as_it_stands(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    spark.range(1, 4).selectExpr("int(id) AS id").write.json(str(tmp_path / "in"))
    pipeline = {
        "pipelineId": "orders",
        "extract": {"sourceType": "File", "path": "in", "connectionParams": {"format": "json"}},
        "load": {"sinkType": "DeltaLake", "path": "tables/orders"},
        "writeMode": "Append",
    }
    Path("orders.yaml").write_text(yaml.safe_dump(pipeline))
    blocks = re.findall(r"```python\n(.*?)```", (docs.ROOT / "docs/python.md").read_text(), re.DOTALL)

    exec("\n".join(blocks), {"spark": spark})

    assert capsys.readouterr().out.startswith("0 3 ")
    assert deltaworks.open_table("tables/copy").rows == 2


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_example_is_explained_by_a_comment(path: Path) -> None:
    assert path.read_text().startswith("# ")


def test_every_key_is_in_the_reference_and_has_an_example() -> None:
    models: list[type[FileModel]] = [
        PipelineConfig,
        SparkConfig,
        ProjectConfig,
        Environment,
        RunsPlace,
        Aggregation,
        Expectation,
        After,
        *SOURCES.models(),
        *filter(None, map(docs.incremental_of, SOURCES.models())),
        *TRANSFORMS.models(),
        *SINKS.models(),
        *VAULTS.models(),
    ]

    rows = re.findall(r"^\| `(\S+)` \|.*\| (.*) \|$", docs.pipeline_page(), re.MULTILINE)

    assert sorted(key for key, _ in rows) == sorted(key for model in models for key in docs.keys(model))
    assert {key for key, example in rows if not example} == set()


def test_the_reference_pages_are_up_to_date() -> None:
    for name, text in docs.pages().items():
        assert (docs.ROOT / "docs/reference" / name).read_text() == text, "run make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())

    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "docs"], ids=lambda page: page.stem)
def test_a_page_shows_no_pipeline_that_no_test_runs(page: Path) -> None:
    assert "```yaml" not in page.read_text()
