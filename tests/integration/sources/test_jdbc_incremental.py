"""Pipelines that read new rows of a database: each row once, whatever happens in between."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.increments import batches, broken_off, ids
from tests.integration.rows import both

import deltaworks
from deltaworks.errors import ConfigError, DeltaworksError, RefusedError, RunError
from deltaworks.pipeline.incremental import OtherSourceError
from deltaworks.spark.databases import cursor
from deltaworks.spark.databases.cursor import CursorLostError, TooManyTiesError
from deltaworks.spark.sources import jdbc_cursor
from deltaworks.spark.sources.jdbc import JdbcSource
from deltaworks.spark.sources.jdbc_cursor import KeysUnknownError, NullCursorsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.servers.database import TestDatabase

    from deltaworks.runs.result import RunResult

pytestmark = pytest.mark.usefixtures("elsewhere")

UPSERT: dict[str, Any] = {"mode": "Upsert", "load": {"mergeKeys": "id"}}
BY_PARTITION: dict[str, Any] = {
    "mode": "Overwrite",
    "load": {"partitionColumns": "id", "partitionOverwriteMode": "dynamic"},
}


class Orders:
    """A table of a database, and a pipeline that loads what is new there into a Delta table."""

    def __init__(self, spark: SparkSession, database: TestDatabase, folder: Path) -> None:
        self.spark, self.database, self.out = spark, database, folder / "out"

    def made(self, kind: str = "bigint", *values: object, more: str = "") -> None:
        """The table, with a row for each value of its cursor `at`; the ids count from 1."""
        self.database.run(f"CREATE TABLE orders (id bigint PRIMARY KEY, at {kind}{more})")
        self.put(*values)

    def put(self, *values: object) -> None:
        """Add a row for each value, as SQL."""
        for value in values:
            ((number,),) = self.database.rows("SELECT coalesce(max(id), 0) + 1 FROM orders")
            self.database.run(f"INSERT INTO orders (id, at) VALUES ({number}, {value})")

    def pipeline(self, mode: str = "Append", *, incremental: Any = None, **how: Any) -> dict[str, Any]:
        """The pipeline; `extract` and `load` have more for their connectionParams, the rest is for `incremental`."""
        params = {"table": "orders", **how.pop("extract", {})}
        load = {"path": str(self.out), **how.pop("load", {})}
        return {
            "pipelineId": "orders",
            "extract": {
                **self.database.source(**{key: value for key, value in params.items() if value is not None}),
                "incremental": {"cursorColumn": "at", **how},
            },
            "load": {"sinkType": "DeltaLake", "connectionParams": load},
            "writeMode": mode,
        }

    def run(self, mode: str = "Append", **how: Any) -> RunResult:
        """Load what is new."""
        asked = {name: how.pop(name) for name in ("full_refresh", "between", "again") if name in how}
        return deltaworks.run(self.pipeline(mode, **how), spark=self.spark, vault=self.database.vault(), **asked)

    def landed(self) -> list[Any]:
        """The ids in the table, of which both engines say the same."""
        return ids(both(self.spark, self.out))

    def position(self) -> dict[str, Any]:
        """What the last commit says."""
        commit = batches(self.out)[-1].ours
        assert commit
        assert commit.position
        found: dict[str, Any] = commit.position.end
        return found


@pytest.fixture
def orders(spark: SparkSession, database: TestDatabase, tmp_path: Path) -> Orders:
    return Orders(spark, database, tmp_path)


def before_reading(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Let something happen, once, when it is decided what is read, and nothing has been read."""
    honest, waiting = JdbcSource.read, [act]

    def read(source: JdbcSource, spark: SparkSession, span: Any) -> Any:
        if waiting:
            waiting.pop()()
        return honest(source, spark, span)

    monkeypatch.setattr(JdbcSource, "read", read)


# What is new


def test_each_row_lands_once_over_many_runs(orders: Orders) -> None:
    orders.made("bigint", 10, 20)
    counts = [orders.run().load.rows_inserted]
    for value in (30, 40):
        orders.put(value, value)
        counts.append(orders.run().load.rows_inserted)
    again = orders.run()

    assert counts == [2, 2, 2]
    assert orders.landed() == [1, 2, 3, 4, 5, 6]
    assert (again.load.batches, len(batches(orders.out))) == (0, 3)
    assert again.standing
    assert (again.standing.position, again.standing.end) == ("at up to 40", "at up to 40")


@pytest.mark.parametrize("how", [{}, {"extract": {"connections": 1}}], ids=["several", "one"])
def test_rows_that_come_later_at_the_last_value_land_and_none_twice(orders: Orders, how: dict[str, Any]) -> None:
    orders.made("bigint", 1, 2, 2)
    orders.run(**how)
    orders.put(2, 2)
    assert orders.run(**how).load.rows_inserted == 2
    orders.put(2, 3)
    assert orders.run(**how).load.rows_inserted == 2

    assert orders.landed() == [1, 2, 3, 4, 5, 6, 7]
    assert orders.run(**how).load.batches == 0
    assert len(orders.position()["at"]) == 1


def test_an_upsert_takes_rows_at_the_last_value_that_came_or_changed(orders: Orders) -> None:
    orders.made("bigint", 1, 2, 2, more=", n int")
    orders.run(**UPSERT)
    orders.put(2)
    orders.database.run("UPDATE orders SET n = 7 WHERE id = 2")

    result = orders.run(**UPSERT)

    assert (result.load.rows_inserted, result.load.batches) == (1, 1)
    assert orders.run(**UPSERT).load.batches == 0
    assert [(row["id"], row["n"]) for row in both(orders.spark, orders.out)] == [(1, None), (2, 7), (3, None), (4, None)]


def test_a_change_lands_as_an_update_and_by_append_as_a_row(orders: Orders) -> None:
    orders.made("bigint", 1, 2)
    orders.run(**UPSERT)
    orders.database.run("UPDATE orders SET at = 3 WHERE id = 1")
    orders.run(**UPSERT)

    assert [(row["id"], row["at"]) for row in both(orders.spark, orders.out)] == [(1, 3), (2, 2)]


def test_a_table_that_is_empty_at_first_is_waited_for(orders: Orders) -> None:
    orders.made()
    assert orders.run().load.batches == 0
    orders.put(5)
    orders.run()

    assert orders.landed() == [1]


def test_a_batch_holds_about_so_many_rows_and_never_half_of_those_with_one_value(orders: Orders) -> None:
    orders.made("bigint", 1, 2, 2, 2, 3, 4)

    result = orders.run(maxRowsPerBatch=2)

    assert orders.landed() == [1, 2, 3, 4, 5, 6]
    assert [commit.rows_added for commit in batches(orders.out)] == [4, 2]
    assert result.load.batches == 2


def test_the_rows_of_a_query_are_told_apart_by_the_keys_that_the_file_names(orders: Orders) -> None:
    orders.made("bigint", 1, 1)
    query = {"table": None, "query": "SELECT id, at FROM orders WHERE at < 9 -- not yet"}
    with pytest.raises(ConfigError, match="no primary key") as told:
        orders.run(extract=query)
    assert "keyColumns" in told.value.hint
    orders.run(extract=query, keyColumns=["ID"])
    orders.put(1, 9)
    orders.run(extract=query, keyColumns=["id"])

    assert orders.landed() == [1, 2, 3]


def test_each_of_several_tables_has_its_own_position(orders: Orders) -> None:
    orders.made("bigint", 1)
    orders.database.run("CREATE TABLE refunds (id bigint PRIMARY KEY, at bigint)", "INSERT INTO refunds VALUES (7, 9)")
    how: dict[str, Any] = {
        "extract": {"table": None, "tables": ["orders", "refunds"]},
        "load": {"path": f"{orders.out}/{{table}}"},
    }
    orders.run(**how)
    orders.put(2)
    orders.run(**how)

    assert [ids(both(orders.spark, orders.out / name)) for name in ("orders", "refunds")] == [[1, 2], [7]]


# Values of cursors

KINDS = {
    "smallint": ("-32768", "-1", "0", "32767"),
    "bigint": ("-9223372036854775808", "-1", "0", "9223372036854775807"),
    "decimal(38,10)": ("-1.5", "0.0000000001", "9999999999999999999999999999.9999999998", "9999999999999999999999999999.9999999999"),
    "date": ("'0001-01-01'", "'1969-12-31'", "'2024-02-29'", "'9999-12-31'"),
    "timestamp(6)": ("'1970-01-01 00:00:00.000001'", "'2024-03-31 02:30:00'", "'2024-03-31 02:30:00.000001'", "'2037-12-31 23:59:59.999999'"),
    "varchar(99)": ("''", "'NaN'", "'it''s 100% \\ ?'", "'ÿ😀 {fn} -- '"),
}  # fmt: skip
OWN = {
    "PostgreSQL": {
        "numeric": ("-1", "0.5", "12345678901234567890", "12345678901234567890.000000000000000001"),
        "timestamptz": ("'0001-01-01 00:00:00Z'", "'2024-03-31 02:30:00+02'", "'2024-03-31 02:30:00.000001+02'", "'9999-12-31 23:59:59.999999Z'"),
        'text COLLATE "C"': ("''", "'A'", "'a'", "'ä'"),
        "char(5)": ("''", "'a'", "'b '", "'c'"),
    },
    "MySQL": {
        "bigint unsigned": ("0", "1", "9223372036854775808", "18446744073709551615"),
        "datetime(6)": ("'1000-01-01 00:00:00'", "'2024-03-31 02:30:00'", "'2024-03-31 02:30:00.000001'", "'9999-12-31 23:59:59.999999'"),
        "varchar(9) CHARACTER SET latin1": ("''", "'a'", "'b\\\\'", "'ü'"),
        "varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin": ("''", "'A'", "'a\\\\'", "'😀'"),
        "year": ("1901", "1999", "2000", "2155"),
        "bit(8)": ("0", "9", "128", "255"),
    },
}  # fmt: skip


def _kinds() -> list[Any]:
    own = [(database, kind, values) for database, kinds in OWN.items() for kind, values in kinds.items()]
    shared = [(database, kind, values) for database in OWN for kind, values in KINDS.items()]
    return [pytest.param(*each, id=f"{each[0]} {each[1]}") for each in shared + own]


@pytest.mark.parametrize(("database", "kind", "values"), _kinds(), indirect=["database"])
def test_every_kind_of_cursor_reads_on_from_each_of_its_values(
    orders: Orders, kind: str, values: tuple[str, ...]
) -> None:
    if orders.database.kind == "MySQL" and kind == "varchar(99)":
        values = tuple(value.replace("\\", "\\\\") for value in values)
    orders.made(kind)
    for number, value in enumerate(values):
        orders.put(value)  # beyond the last one
        orders.run()
        assert orders.landed() == list(range(1, 2 * number + 2))
        orders.put(value)  # at the very value
        orders.run()
        assert orders.landed() == list(range(1, 2 * number + 3))
    assert orders.run().load.batches == 0
