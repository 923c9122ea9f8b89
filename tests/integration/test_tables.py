"""Several tables of a database in one file: a load and a record of each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import deltaworks
from deltaworks.errors import ConfigError, DeltaworksError
from tests.integration.rows import both, stored

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tests.servers.database import TestDatabase


pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture
def shop(database: TestDatabase) -> TestDatabase:
    """A database with three tables and a view."""
    database.run(
        "CREATE TABLE customers (id int primary key)",
        "INSERT INTO customers VALUES (1), (2)",
        "CREATE TABLE orders (id int, amount decimal(9,2))",
        "INSERT INTO orders VALUES (7, 1.50)",
        "CREATE TABLE returns (id int)",
        "CREATE VIEW large AS SELECT * FROM orders",
    )
    return database


def pipeline(shop: TestDatabase, load: dict[str, Any], mode: str = "Overwrite", **parameters: Any) -> dict[str, Any]:
    return {"pipelineId": "shop", "extract": shop.source(**parameters), "load": load, "writeMode": mode}


def schema(shop: TestDatabase) -> str:
    return "public" if shop.kind == "PostgreSQL" else shop.name


def test_every_table_that_is_named_is_a_load_and_a_record_of_its_own(
    spark: SparkSession, shop: TestDatabase, tmp_path: Path
) -> None:
    load = {"sinkType": "DeltaLake", "path": str(tmp_path / "lake/{table}")}
    result = deltaworks.run(pipeline(shop, load, tables=["customers", "orders"]), spark=spark, vault=shop.vault())

    assert both(spark, tmp_path / "lake/customers") == [{"id": 1}, {"id": 2}]
    assert [row["id"] for row in both(spark, tmp_path / "lake/orders")] == [7]
    assert [(part.part, part.load.rows_read) for part in result.parts] == [("customers", 2), ("orders", 1)]
    assert result.success
    records = [json.loads((tmp_path / f"{part.record}/manifest.json").read_text()) for part in result.parts]
    assert [(each["pipeline_id"], each["part"], each["status"]) for each in records] == [
        ("shop", "customers", "succeeded"),
        ("shop", "orders", "succeeded"),
    ]


def test_a_schema_alone_means_all_its_tables_but_no_views(
    spark: SparkSession, shop: TestDatabase, tmp_path: Path
) -> None:
    load = {"sinkType": "File", "connectionParams": {"format": "json", "path": str(tmp_path / "{table}/json")}}
    config = pipeline(shop, load)
    config["extract"]["schemaName"] = schema(shop)
    result = deltaworks.run(config, spark=spark, vault=shop.vault())

    assert [part.part for part in result.parts] == ["customers", "orders", "returns"]
    assert spark.read.json(str(tmp_path / "customers/json")).count() == 2


def test_tables_may_become_named_ones(spark: SparkSession, pg: TestDatabase, tmp_path: Path) -> None:
    pg.run("CREATE SCHEMA shop", 'CREATE TABLE shop."Order Lines" AS SELECT 1 AS id')
    load = {"sinkType": "DeltaLake", "table": "default.shop_{table}"}
    deltaworks.run(pipeline(pg, load, schemaName="shop"), spark=spark, vault=pg.vault())

    assert [row["id"] for row in spark.table("default.shop_order_lines").collect()] == [1]
    spark.sql("DROP TABLE default.shop_order_lines")


def test_a_name_cannot_leave_the_folder_of_the_tables(spark: SparkSession, pg: TestDatabase, tmp_path: Path) -> None:
    pg.run('CREATE TABLE "../../x/.." AS SELECT 1 AS id', 'CREATE TABLE ".." AS SELECT 2 AS id')
    load = {"sinkType": "DeltaLake", "path": str(tmp_path / "lake/{table}")}
    deltaworks.run(pipeline(pg, load, schemaName="public"), spark=spark, vault=pg.vault())

    assert sorted(path.name for path in (tmp_path / "lake").iterdir()) == ["_", "__.._x_.."]
    assert stored(tmp_path / "lake/_") == [{"id": 2}]


def test_two_tables_that_would_go_to_one_place_are_refused(
    spark: SparkSession, pg: TestDatabase, tmp_path: Path
) -> None:
    pg.run('CREATE TABLE "a b" (id int)', 'CREATE TABLE "a_b" (id int)')
    load = {"sinkType": "DeltaLake", "path": str(tmp_path / "{table}")}

    with pytest.raises(ConfigError, match="Two tables would both go to 'a_b'"):
        deltaworks.run(pipeline(pg, load, schemaName="public"), spark=spark, vault=pg.vault())


def test_a_table_that_fails_is_the_last_and_those_before_have_landed(
    spark: SparkSession, shop: TestDatabase, tmp_path: Path
) -> None:
    load = {"sinkType": "DeltaLake", "path": str(tmp_path / "{table}")}
    config = pipeline(shop, load, tables=["customers", "nope", "orders"])

    with pytest.raises(DeltaworksError, match="nope"):
        deltaworks.run(config, spark=spark, vault=shop.vault())
    assert (tmp_path / "customers/_delta_log").exists()
    assert not (tmp_path / "orders").exists()
    result = deltaworks.run(config, spark=spark, vault=shop.vault(), check=False)
    assert [part.success for part in result.parts] == [True, False, True]
    assert not result.success


def test_an_empty_schema_is_a_mistake_of_the_file(spark: SparkSession, shop: TestDatabase, tmp_path: Path) -> None:
    load = {"sinkType": "DeltaLake", "path": str(tmp_path / "{table}")}

    with pytest.raises(ConfigError, match=f"{shop.kind} shows this user no table in the schema nope."):
        deltaworks.run(pipeline(shop, load, schemaName="nope"), spark=spark, vault=shop.vault())
