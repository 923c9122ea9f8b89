"""Tables by name: made, found again and read through the session's catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import both, frame
from tests.integration.sinks.loads import landed

import deltaworks
from deltaworks import failpoints
from deltaworks.lake.table import open_table
from deltaworks.spark.catalog import location

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

MODES = [("Append", {}), ("Overwrite", {}), ("Upsert", {"mergeKeys": "id"})]


@pytest.fixture
def schema(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    name = f"s{abs(hash(tmp_path))}"
    spark.sql(f"CREATE SCHEMA {name} LOCATION '{tmp_path}/{name}'")
    yield name
    spark.sql(f"DROP SCHEMA IF EXISTS {name} CASCADE")


def load(rows: Any, table: str, mode: str = "Append", **params: Any) -> Any:
    config = {"sinkType": "DeltaLake", "table": table, "connectionParams": params}
    return deltaworks.load(rows, config, mode, pipeline_id="orders", key=params.pop("key", None))


@pytest.mark.parametrize(("mode", "params"), MODES)
def test_a_named_table_is_made_filled_and_found_again(
    spark: SparkSession, schema: str, mode: str, params: dict[str, Any]
) -> None:
    landed(load(frame(spark, {"id": 1}), f"{schema}.Orders", mode, enableChangeDataFeed=True, **params))
    landed(load(frame(spark, {"id": 2}), f"spark_catalog.{schema}.orders", mode, **params))

    path = location(spark, f"{schema}.orders")
    assert [commit.version for commit in open_table(path).history()] == [1, 0]
    assert open_table(path).properties == {"delta.enableChangeDataFeed": "true"}
    assert spark.table(f"{schema}.orders").count() == len(both(spark, path)) == (1 if mode == "Overwrite" else 2)
    kind = spark.sql(f"DESCRIBE EXTENDED {schema}.orders").where("col_name = 'Type'").collect()[0]["data_type"]
    assert kind == "MANAGED"


def test_a_clustered_table_can_have_a_name(spark: SparkSession, schema: str) -> None:
    landed(load(frame(spark, {"id": 1}), f"{schema}.clustered", clusterBy="id"))

    assert spark.sql(f"DESCRIBE DETAIL {schema}.clustered").collect()[0]["clusteringColumns"] == ["id"]


def test_a_table_the_catalog_has_forgotten_is_found_where_it_would_be_made(spark: SparkSession, schema: str) -> None:
    landed(load(frame(spark, {"id": 1}), f"{schema}.orders"))
    path = location(spark, f"{schema}.orders")
    copy = frame(spark, {"id": 5})
    copy.write.format("delta").save(path.replace("orders", "kept"))  # made by a session that is gone

    landed(load(frame(spark, {"id": 6}), f"{schema}.kept"))

    assert {row["id"] for row in spark.table(f"{schema}.kept").collect()} == {5, 6}


def test_a_catalog_that_cannot_take_the_name_is_told_and_the_rows_stay_landed(
    spark: SparkSession, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def schema_is_dropped(point: str) -> None:
        if point == "after_commit":
            # Elsewhere first: with a schema Spark removes its folder.
            spark.sql(f"ALTER SCHEMA {schema} SET LOCATION '{tmp_path / 'empty'}'")
            spark.sql(f"DROP SCHEMA {schema}")

    by_path = {"sinkType": "DeltaLake", "path": str(tmp_path / schema / "orders")}
    landed(deltaworks.load(frame(spark, {"id": 1}), by_path, "Append"))
    monkeypatch.setattr(failpoints, "reach", schema_is_dropped)

    result = landed(load(frame(spark, {"id": 2}), f"{schema}.orders"))

    assert result.rows_inserted == 1
    assert deltaworks.open_table(tmp_path / schema / "orders").rows == 2
    (note,) = result.notes
    assert note.startswith(f"the catalog does not know {schema}.orders: catalog: ")
    assert "cannot be found" in note


def test_a_key_lands_once_in_a_named_table(spark: SparkSession, schema: str) -> None:
    config = {"sinkType": "DeltaLake", "connectionParams": {"table": f"{schema}.orders"}}

    first = deltaworks.load(frame(spark, {"id": 1}), config, "Append", pipeline_id="orders", key="k")
    second = deltaworks.load(frame(spark, {"id": 1}), config, "Append", pipeline_id="orders", key="k")

    assert (first.already_landed, second.already_landed) == (False, True)


def test_a_named_table_is_a_source_like_any_other(spark: SparkSession, schema: str) -> None:
    landed(load(frame(spark, {"id": 1}), f"{schema}.orders"))
    landed(load(frame(spark, {"id": 2}), f"{schema}.orders"))
    source = {"sourceType": "DeltaLake", "table": f"{schema}.orders"}

    assert deltaworks.extract(source, spark=spark).count() == 2
    assert deltaworks.extract({**source, "connectionParams": {"versionAsOf": 0}}, spark=spark).count() == 1


@pytest.mark.parametrize(
    ("name", "missing"), [("nowhere.orders", "nowhere"), ("nocatalog.nowhere.orders", "nocatalog")]
)
def test_a_schema_that_is_not_there_is_told(spark: SparkSession, name: str, missing: str) -> None:
    result = load(frame(spark, {"id": 1}), name)

    assert not result.success
    assert f"table {name}: " in (result.error or "")
    assert missing in (result.error or "").replace(f"table {name}: ", "")


def test_a_table_of_another_format_is_refused(spark: SparkSession, schema: str) -> None:
    spark.sql(f"CREATE TABLE {schema}.csvs (id int) USING csv")

    result = load(frame(spark, {"id": 1}), f"{schema}.csvs")

    assert "csv" in (result.error or "")
    assert result.success is False


def test_a_name_that_no_table_has_is_told_when_read(spark: SparkSession, schema: str) -> None:
    with pytest.raises(deltaworks.DeltaworksError, match="There is no Delta table at"):
        deltaworks.extract({"sourceType": "DeltaLake", "table": f"{schema}.missing"}, spark=spark)


def test_a_pipeline_runs_from_name_to_name_and_sets_aside_by_name(
    spark: SparkSession, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    landed(load(frame(spark, {"id": 1, "n": 1}, {"id": 2, "n": -1}), f"{schema}.orders"))
    config = {
        "pipelineId": "names",
        "extract": {"sourceType": "DeltaLake", "table": f"{schema}.orders"},
        "expect": [{"name": "positive", "check": "n > 0", "onFailure": "setAside"}],
        "load": {"sinkType": "DeltaLake", "table": f"{schema}.good", "after": {"optimize": True}},
        "writeMode": "Append",
    }

    result = deltaworks.run(config, spark=spark)

    assert (result.load.rows_inserted, result.load.rows_set_aside) == (1, 1)
    assert [step.success for step in result.after] == [True]
    assert [row["id"] for row in spark.table(f"{schema}.good").collect()] == [1]
    assert [row["rule"] for row in spark.table(f"{schema}.good_aside").collect()] == ["positive"]
