"""Several writers: who is late tries again, looks again or stops, and nothing is lost or doubled."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import both, frame
from tests.integration.sinks.loads import landed, load, meanwhile

from deltaworks.lake.table import open_table
from deltaworks.spark.session import isolated

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "id int, n int"


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Path:
    rows = frame(spark, *({"id": number, "n": 0} for number in range(4)), schema=SCHEMA)
    landed(load(rows.coalesce(1), tmp_path / "t", "Append"))
    return tmp_path / "t"


def row(spark: SparkSession, number: int, n: int = 1) -> DataFrame:
    return frame(spark, {"id": number, "n": n}, schema=SCHEMA)


def sql(spark: SparkSession, statement: str, table: Path) -> Any:
    return lambda: spark.sql(statement.format(t=f"delta.`{table}`"))


MODES: list[tuple[str, dict[str, Any]]] = [("Append", {}), ("Overwrite", {}), ("Upsert", {"mergeKeys": "id"})]


@pytest.mark.parametrize(("mode", "params"), MODES)
def test_a_column_that_came_meanwhile_is_looked_at_again_and_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, params: dict[str, Any]
) -> None:
    """The table is made by another, with other columns, between the look and the write."""
    other = frame(spark, {"id": 1, "n": 1, "more": 1}, schema="id int, n int, more int")
    meanwhile(monkeypatch, lambda: other.write.format("delta").save(str(tmp_path / "t")))

    result = load(row(spark, 5), tmp_path / "t", mode, **params)

    assert not result.success
    assert "the rows lack 'more'" in (result.error or "")
    assert both(spark, tmp_path / "t") == [{"id": 1, "n": 1, "more": 1}]


@pytest.mark.parametrize(("mode", "params"), MODES)
def test_a_table_that_another_made_meanwhile_is_written_as_it_is(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, params: dict[str, Any]
) -> None:
    meanwhile(monkeypatch, lambda: row(spark, 5, 0).write.format("delta").save(str(tmp_path / "t")))

    result = landed(load(row(spark, 5), tmp_path / "t", mode, **params))

    assert (result.version, result.attempts) == (1, 2)
    commit = open_table(tmp_path / "t").log.commit(1)
    assert commit.ours is not None
    assert commit.ours.attempt == 2
    expected = {"Append": [0, 1], "Overwrite": [1], "Upsert": [1]}[mode]
    assert [each["n"] for each in both(spark, tmp_path / "t")] == expected


def at_once(spark: SparkSession, loads: list[Any]) -> list[Any]:
    """Run loads at the same time, each in a session of its own."""
    with ThreadPoolExecutor(len(loads)) as pool:
        return list(pool.map(lambda act: act(isolated(spark)), loads))


def test_merges_into_different_partitions_both_succeed(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(40).selectExpr("int(id) AS id", "concat('d', id % 2) AS day", "0 AS n")
    landed(load(rows, tmp_path / "t", "Append", partitionBy="day"))

    def merge(day: str) -> Any:
        def act(session: SparkSession) -> Any:
            mine = session.range(40).selectExpr("int(id) AS id", "concat('d', id % 2) AS day", "1 AS n")
            keys: dict[str, Any] = {"mergeKeys": ["day", "id"], "maxCommitAttempts": 1}
            return load(mine.where(f"day = '{day}'"), tmp_path / "t", "Upsert", **keys)

        return act

    results = at_once(spark, [merge("d0"), merge("d1")])

    assert [(landed(result).rows_updated, result.attempts) for result in results] == [(20, 1), (20, 1)]
    assert sum(each["n"] for each in both(spark, tmp_path / "t")) == 40
    assert open_table(tmp_path / "t").version == 2


def test_merges_of_the_same_keys_both_land_one_after_the_other(spark: SparkSession, table: Path) -> None:
    def merge(n: int) -> Any:
        return lambda session: load(
            session.range(8).selectExpr("int(id) AS id", f"{n} AS n"), table, "Upsert", mergeKeys="id"
        )

    results = [landed(result) for result in at_once(spark, [merge(1), merge(2), merge(3)])]

    assert sorted(result.version or 0 for result in results) == [1, 2, 3]
    rows = both(spark, table)
    assert len(rows) == 8
    last = max(results, key=lambda result: result.version or 0)
    assert {each["n"] for each in rows} == {results.index(last) + 1}
    assert sum(result.rows_inserted for result in results) == 4


def test_overwrites_at_once_leave_the_rows_of_one(spark: SparkSession, table: Path) -> None:
    def replace(n: int) -> Any:
        return lambda session: load(session.range(5).selectExpr("int(id) AS id", f"{n} AS n"), table, "Overwrite")

    results = [landed(result) for result in at_once(spark, [replace(1), replace(2)])]

    last = max(results, key=lambda result: result.version or 0)
    assert [each["n"] for each in both(spark, table)] == [results.index(last) + 1] * 5


def test_appends_at_once_all_land(spark: SparkSession, table: Path) -> None:
    results = at_once(spark, [lambda session, n=n: load(row(session, 10 + n), table, "Append") for n in range(4)])

    assert sorted(landed(result).version or 0 for result in results) == [1, 2, 3, 4]
    assert len(both(spark, table)) == 8


def test_a_key_that_another_run_lands_meanwhile_is_not_landed_twice(
    spark: SparkSession, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(monkeypatch, lambda: landed(load(row(spark, 9), table, "Append", key="monday")))

    late = landed(load(row(spark, 9), table, "Append", key="monday"))

    assert (late.already_landed, late.version) == (True, 1)
    assert len(both(spark, table)) == 5


@pytest.mark.parametrize(
    ("statement", "mode", "params", "expected"),
    [
        ("DELETE FROM {t} WHERE id = 3", "Upsert", {"mergeKeys": "id"}, [0, 0, 0, 1]),
        ("UPDATE {t} SET n = 7 WHERE id = 3", "Upsert", {"mergeKeys": "id"}, [0, 0, 0, 1]),
        ("DELETE FROM {t} WHERE id = 3", "Overwrite", {}, [1]),
        ("UPDATE {t} SET n = 7 WHERE id = 3", "Append", {}, [0, 0, 0, 7, 1]),
        ("ALTER TABLE {t} SET TBLPROPERTIES ('delta.checkpointInterval' = '20')", "Append", {}, [0, 0, 0, 0, 1]),
        ("ALTER TABLE {t} SET TBLPROPERTIES ('delta.checkpointInterval' = '20')", "Overwrite", {}, [1]),
    ],
)
def test_what_others_do_before_the_write_is_met(
    spark: SparkSession,
    table: Path,
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
    mode: str,
    params: dict[str, Any],
    expected: list[int],
) -> None:
    meanwhile(monkeypatch, sql(spark, statement, table))

    landed(load(row(spark, 3 if mode == "Upsert" else 9), table, mode, **params))

    assert [each["n"] for each in both(spark, table)] == expected
