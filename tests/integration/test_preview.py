"""`run --dry-run`, on a real session: true rows after each step, and nothing written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deltaworks.errors import ConfigError, RunError
from deltaworks.pipeline.project import Project
from deltaworks.pipeline.records import RunsPlace
from deltaworks.pipeline.workspace import SparkEdge, Workspace
from deltaworks.vault import MemoryVault
from tests.integration.rows import both
from tests.unit.pipeline.files import config, pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from deltaworks.pipeline.preview import Preview, StepRows

LARGE = {"type": "filter", "parameters": {"condition": "id > 95"}}
CAST = {"type": "cast", "parameters": {"columns": {"id": "int"}}}
COUNT = {"type": "aggregation", "parameters": {"aggregations": [{"column": "*", "function": "count"}]}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hundred rows to read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("id\n" + "".join(f"{number}\n" for number in range(1, 101)))
    return tmp_path


def preview(spark: SparkSession, limit: int = 3, **changes: Any) -> Preview:
    space = Workspace(
        project=Project(folder=Path.cwd(), runs=RunsPlace(path="runs")),
        variables={},
        vault=MemoryVault({}),
        spark=SparkEdge(cache=Path.cwd() / "cache", session=spark),
    )
    return space.preview(config(pipeline(extract__options={"header": True}, **changes)), limit)


def titles(found: Preview) -> list[str]:
    return [step.title for step in found.steps]


def values(step: StepRows) -> list[Any]:
    return [row[0] for row in step.rows]


def test_each_step_shows_rows_of_the_whole_source_and_writes_nothing(spark: SparkSession, folder: Path) -> None:
    before = sorted(folder.rglob("*"))

    found = preview(spark, transform=[CAST, LARGE])

    assert titles(found) == ["extract", "transform[0] cast", "transform[1] filter"]
    assert [values(step) for step in found.steps] == [["1", "2", "3"], [1, 2, 3], [96, 97, 98]]
    assert [step.columns[0].type for step in found.steps] == ["string", "int", "int"]
    assert found.plan.write.action == f"create {folder / 'out'}"
    assert sorted(folder.rglob("*")) == before


def test_rows_that_are_gathered_are_gathered_whole(spark: SparkSession, folder: Path) -> None:
    found = preview(spark, transform=[CAST, COUNT])

    assert values(found.steps[-1]) == [100]


def test_a_step_that_leaves_no_rows_still_shows_its_columns(spark: SparkSession, folder: Path) -> None:
    found = preview(spark, transform=[{"type": "filter", "parameters": {"condition": "false"}}])

    assert (found.steps[-1].rows, [column.name for column in found.steps[-1].columns]) == ((), ["id"])


def test_broken_rules_are_counted_over_all_rows_even_one_that_would_fail_the_run(
    spark: SparkSession, folder: Path
) -> None:
    before = sorted(folder.rglob("*"))
    rules = [
        {"name": "small", "check": "id < 91"},
        {"name": "even", "check": "id % 2 = 0", "onFailure": "setAside"},
        {"name": "there", "check": "id IS NOT NULL", "onFailure": "drop"},
    ]

    found = preview(spark, transform=[CAST], expect=rules)

    assert [(rule.name, rule.broken) for rule in found.expectations] == [("small", 10), ("even", 50), ("there", 0)]
    assert found.plan.rows == 100
    assert sorted(folder.rglob("*")) == before


def test_an_upsert_says_how_many_files_it_would_read_and_leaves_the_table_alone(
    spark: SparkSession, folder: Path
) -> None:
    for start in (0, 1000):
        spark.range(start, start + 10, numPartitions=1).write.format("delta").mode("append").save(str(folder / "out"))

    cast = {"type": "cast", "parameters": {"columns": {"id": "bigint"}}}
    found = preview(
        spark, transform=[cast], load__connectionParams={"path": "out", "mergeKeys": "id"}, writeMode="Upsert"
    )

    assert (found.plan.write.version, found.plan.write.files_before, found.plan.write.files_read) == (1, 2, 1)
    assert len(both(spark, folder / "out")) == 20


def test_keys_that_a_run_may_refuse_are_counted(spark: SparkSession, folder: Path) -> None:
    (folder / "in.csv").write_text("id,x\n1,a\n1,b\n2,c\n,d\n")

    found = preview(spark, load__connectionParams={"path": "out", "mergeKeys": "id"}, writeMode="Upsert")

    assert (found.null_keys, found.repeated_keys) == (1, 1)


KINDS = """
SELECT CAST(0.1 AS float) AS `float`, double('NaN') AS `double`, 1.10BD AS `decimal`, DATE'2024-01-01' AS `date`,
  TIMESTAMP'2024-01-01 00:00:00.123456' AS `timestamp`, X'00FF' AS `binary`, CAST(NULL AS int) AS `null`,
  named_struct('at', TIMESTAMP'2024-01-01 00:00:00.123456', 'none', CAST(NULL AS int)) AS `struct`,
  array(1, NULL) AS `array`, map('k', 1) AS `map`, parse_json('{"a": [1]}') AS `variant`,
  TIMESTAMP'9999-12-31 00:00:00' + INTERVAL 9 YEAR AS `late`, CAST(NULL AS struct<a: int>) AS `nothing`
FROM input LIMIT 1
"""


def test_values_of_every_kind_are_plain_and_whole(spark: SparkSession, folder: Path) -> None:
    # As files, which take any column.
    found = preview(
        spark,
        transform=[{"type": "sql", "parameters": {"query": KINDS}}],
        load={"sinkType": "File", "connectionParams": {"path": "out", "format": "parquet"}},
    )

    step = found.steps[-1]
    assert json.loads(json.dumps(found.to_dict()))["steps"][-1]["rows"] == [list(step.rows[0])]
    assert dict(zip((column.name for column in step.columns), step.rows[0], strict=True)) == {
        "float": 0.1,
        "double": "NaN",
        "decimal": "1.10",
        "date": "2024-01-01",
        "timestamp": "2024-01-01 00:00:00.123456",
        "binary": "00FF",
        "null": None,
        "struct": {"at": "2024-01-01T00:00:00.123456Z", "none": None},
        "array": [1, None],
        "map": {"k": 1},
        "variant": {"a": [1]},
        "late": "+10008-12-31 00:00:00",
        "nothing": None,
    }


def test_a_mistake_is_told_as_a_run_tells_it(spark: SparkSession, folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"^transform\[0\] filter: There is no column 'idd'.$"):
        preview(spark, transform=[{"type": "filter", "parameters": {"condition": "idd > 1"}}])


def test_a_row_that_breaks_a_step_names_the_step(spark: SparkSession, folder: Path) -> None:
    (folder / "in.csv").write_text("id\n1\nfour\n")

    with pytest.raises(RunError, match=r"^transform\[0\] cast: .*four"):
        preview(spark, transform=[CAST])
    assert not (folder / "out").exists()


def test_a_target_is_found_by_its_name(spark: SparkSession, folder: Path) -> None:
    spark.sql(f"CREATE TABLE seen (id STRING) USING delta LOCATION '{folder / 'there'}'")

    found = preview(spark, load__connectionParams={"table": "seen"})

    spark.sql("DROP TABLE seen")
    assert (found.plan.write.target, found.plan.write.version) == (str(folder / "there"), 0)
    assert found.plan.write.action == "append to seen"
