"""Rows of a database, read on from where the table says, by a column whose values grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.increments import batches, broken_off, ids, meanwhile, pipeline
from tests.integration.rows import both

import deltaworks
from deltaworks.errors import ConfigError, RefusedError
from deltaworks.pipeline.checking import InvalidFileError
from deltaworks.pipeline.incremental import OtherSourceError
from deltaworks.spark.databases import cursor
from deltaworks.spark.databases.cursor import CursorLostError, TooManyTiesError
from deltaworks.spark.sources.jdbc_cursor import KeysUnknownError, NullCursorsError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.servers.database import TestDatabase

    from deltaworks.runs.result import RunResult

pytestmark = pytest.mark.usefixtures("elsewhere")


class Reader:
    """A pipeline from one table of a database to a Delta table."""

    def __init__(self, spark: SparkSession, database: TestDatabase, out: Path) -> None:
        self.spark, self.database, self.out = spark, database, out
        database.run("CREATE TABLE sent (id INT PRIMARY KEY, at INT, part INT)")

    def add(self, *numbers: int, at: Any = None, part: int = 0) -> None:
        """Add rows, whose cursor is their id or something else."""
        for number in numbers:
            self.database.run(f"INSERT INTO sent VALUES ({number}, {number if at is None else at}, {part})")

    def run(self, mode: str = "Append", *, options: dict[str, Any] | None = None, **asked: Any) -> RunResult:
        """Land what is new; `asked` is said beside the cursor."""
        load = {"Upsert": {"mergeKeys": "id"}, "Overwrite": OVERWRITE}.get(mode, {})
        source = {
            **self.database.source(**asked.pop("extract", {"table": "sent"})),
            "incremental": {"cursorColumn": "at", **asked},
        }
        found = pipeline(source, self.out, mode, load=load)
        return deltaworks.run(found, spark=self.spark, vault=self.database.vault(), **options or {})

    def ids(self) -> list[int]:
        """Which rows have landed, as both engines say."""
        return ids(both(self.spark, self.out))


OVERWRITE = {"partitionBy": "part", "partitionOverwriteMode": "dynamic"}


@pytest.fixture
def reader(spark: SparkSession, database: TestDatabase, tmp_path: Path) -> Reader:
    return Reader(spark, database, tmp_path / "out")


@pytest.fixture
def on_postgres(spark: SparkSession, pg: TestDatabase, tmp_path: Path) -> Reader:
    """For what does not depend on the kind of database."""
    return Reader(spark, pg, tmp_path / "out")


def test_rows_land_once_over_many_runs_and_so_do_those_that_come_at_the_last_value(reader: Reader) -> None:
    reader.add(1, 2, at=5)
    reader.run()
    reader.add(3, at=5)
    reader.add(4, at=6)
    result = reader.run()

    again = reader.run()

    assert reader.ids() == [1, 2, 3, 4]
    assert (result.load.rows_inserted, result.load.batches, again.load.batches) == (2, 1, 0)
    assert again.standing
    assert again.standing.position == again.standing.end == "at up to 6"
    reader.add(5, at=6)
    assert reader.run().load.rows_inserted == 1
    assert reader.ids() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("mode", ["Append", "Overwrite", "Upsert"])
@pytest.mark.parametrize("step", ["before_commit", "after_commit", "before_cache"])
def test_a_run_broken_off_loses_and_doubles_nothing(
    on_postgres: Reader, mode: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_postgres.add(1, 2, part=1)
    on_postgres.run(mode)
    on_postgres.add(3, 4, part=2)
    with broken_off(monkeypatch, step):
        on_postgres.run(mode)
    on_postgres.add(5, part=3)

    on_postgres.run(mode)

    assert on_postgres.ids() == [1, 2, 3, 4, 5]
    assert on_postgres.run(mode).load.batches == 0


def test_a_row_that_comes_while_a_batch_is_on_its_way_belongs_to_the_next(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader.add(1, 2)
    meanwhile(monkeypatch, "before_batch", lambda: reader.add(3, at=2))

    reader.run()
    first = reader.ids()
    reader.run()

    assert (first, reader.ids()) == ([1, 2], [1, 2, 3])
    assert [each.ours.position.end["value"] for each in batches(reader.out) if each.ours and each.ours.position] == [
        "2",
        "2",
    ]


def test_a_batch_holds_about_as_many_rows_as_the_file_says_and_no_value_in_part(reader: Reader) -> None:
    reader.add(1, 2)
    reader.add(3, 4, 5, at=3)
    reader.add(6)

    result = reader.run(maxRowsPerBatch=3)

    assert reader.ids() == [1, 2, 3, 4, 5, 6]
    assert result.load.batches == 2


def test_a_table_that_is_empty_at_first_is_waited_for(reader: Reader) -> None:
    assert reader.run().load.batches == 0
    reader.add(5)
    reader.run()

    assert reader.ids() == [5]


def test_each_of_several_tables_has_its_own_position(spark: SparkSession, pg: TestDatabase, tmp_path: Path) -> None:
    pg.run("CREATE TABLE orders (id INT PRIMARY KEY)", "CREATE TABLE refunds (id INT PRIMARY KEY)")
    source = {**pg.source(tables=["orders", "refunds"]), "incremental": {"cursorColumn": "id"}}
    found = pipeline(source, tmp_path / "{table}")
    for statement in (
        "INSERT INTO orders VALUES (1)",
        "INSERT INTO refunds VALUES (7)",
        "INSERT INTO orders VALUES (2)",
    ):
        pg.run(statement)
        deltaworks.run(found, spark=spark, vault=pg.vault())

    assert [ids(both(spark, tmp_path / name)) for name in ("orders", "refunds")] == [[1, 2], [7]]


def test_rows_that_are_seen_late_land_where_a_lag_is_said(reader: Reader) -> None:
    reader.add(10, 20)
    reader.run("Upsert", lag=5)
    reader.add(16, 14)
    reader.run("Upsert", lag=5)

    assert reader.ids() == [10, 16, 20]
    assert reader.run("Upsert", lag=5).load.batches == 0


@pytest.mark.parametrize("mode", ["Append", "Overwrite"])
def test_a_lag_is_refused_where_rows_must_not_be_read_twice(on_postgres: Reader, mode: str) -> None:
    with pytest.raises(InvalidFileError, match=r"lag reads .*again"):
        on_postgres.run(mode, lag=5)


def test_rows_without_a_cursor_are_counted_and_refused_or_included_at_first(reader: Reader) -> None:
    reader.add(1)
    reader.add(2, 3, at="NULL")
    with pytest.raises(NullCursorsError, match="2 rows whose at is null"):
        reader.run()

    reader.run(nullCursors="include")

    assert reader.ids() == [1, 2, 3]
    assert reader.run(nullCursors="include").load.batches == 0


def test_a_change_at_the_very_value_lands_with_an_upsert(reader: Reader) -> None:
    reader.add(1, 2, at=7)
    reader.run("Upsert")
    reader.database.run("UPDATE sent SET part = 9 WHERE id = 1")

    reader.run("Upsert")

    assert [row["part"] for row in both(reader.spark, reader.out)] == [9, 0]
    assert reader.run("Upsert").load.batches == 0


def test_a_table_that_was_emptied_is_refused(reader: Reader) -> None:
    reader.add(1, 2)
    reader.run()
    reader.database.run("DELETE FROM sent")
    with pytest.raises(CursorLostError, match="there is no row now") as told:
        reader.run()

    reader.add(1)
    with pytest.raises(RefusedError, match="the newest row has 1 now"):
        reader.run()

    assert "--full-refresh" in told.value.hint
    reader.run(options={"full_refresh": True})
    assert reader.ids() == [1]


ANEW = ["DROP TABLE sent", "CREATE TABLE sent (id INT PRIMARY KEY, at INT, part INT)"]


def test_a_table_that_was_made_anew_is_refused_however_far_it_has_grown(on_postgres: Reader) -> None:
    on_postgres.add(1, 2)
    on_postgres.run()
    on_postgres.database.run("TRUNCATE sent")
    on_postgres.add(2, 3)
    on_postgres.run()
    on_postgres.database.run(*ANEW)
    on_postgres.add(1, 4, 5)
    with pytest.raises(CursorLostError, match="it was dropped and made anew since it was read") as told:
        on_postgres.run()

    assert "--full-refresh" in told.value.hint
    assert on_postgres.ids() == [1, 2, 3]
    on_postgres.run(options={"full_refresh": True})
    on_postgres.add(6)
    on_postgres.run()
    assert on_postgres.ids() == [1, 4, 5, 6]


def test_a_table_that_is_made_anew_between_two_batches_is_refused(
    on_postgres: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_postgres.add(1, 2)
    meanwhile(
        monkeypatch, "after_batch", lambda: on_postgres.database.run(*ANEW, "INSERT INTO sent VALUES (1, 1), (3, 3)")
    )

    with pytest.raises(CursorLostError, match="made anew"):
        on_postgres.run(maxRowsPerBatch=1)
    assert on_postgres.ids() == [1]


@pytest.mark.parametrize("read", [{"query": "SELECT * FROM sent"}, {"table": "shown"}])
def test_a_query_or_view_of_a_table_that_is_rebuilt_is_read_on(on_postgres: Reader, read: dict[str, str]) -> None:
    shown = "CREATE VIEW shown AS SELECT * FROM sent"
    on_postgres.database.run(shown)
    on_postgres.add(1, 2)
    on_postgres.run(extract=read, keyColumns=["id"])
    on_postgres.database.run("DROP VIEW shown", *ANEW, shown)
    on_postgres.add(1, 2, 3)
    on_postgres.run(extract=read, keyColumns=["id"])

    assert on_postgres.ids() == [1, 2, 3]


def test_a_cursor_that_is_another_now_is_refused(reader: Reader) -> None:
    reader.add(1, 2)
    reader.run()

    with pytest.raises(CursorLostError, match="it was read by 'at' so far, and now by 'id'"):
        reader.run(cursorColumn="id")
    reader.database.run("ALTER TABLE sent DROP COLUMN at", "ALTER TABLE sent ADD COLUMN at VARCHAR(10)")
    with pytest.raises(CursorLostError, match="was of kind number, and is string now"):
        reader.run()
    reader.database.run("ALTER TABLE sent DROP COLUMN at")
    with pytest.raises(CursorLostError, match="at"):
        reader.run()
    assert reader.ids() == [1, 2]


def test_another_table_is_refused(on_postgres: Reader) -> None:
    on_postgres.add(1)
    on_postgres.run()
    on_postgres.database.run("CREATE TABLE other (id INT PRIMARY KEY, at INT, part INT)")

    with pytest.raises(OtherSourceError):
        on_postgres.run(extract={"table": "other"})


def test_so_many_rows_at_one_value_that_no_position_can_hold_them_are_refused(
    on_postgres: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = cursor.MOST_TIES + 1
    on_postgres.database.run(f"INSERT INTO sent SELECT g, 7, 0 FROM generate_series(1, {most}) g")
    with pytest.raises(TooManyTiesError, match="more than 10,000 rows with at 7") as told:
        on_postgres.run()

    assert "Upsert" in told.value.hint
    on_postgres.run("Upsert")
    assert len(on_postgres.ids()) == most


def test_rows_that_nobody_can_tell_apart_are_refused_until_keys_are_named(reader: Reader) -> None:
    reader.database.run("CREATE TABLE bare (id INT, at INT, part INT)", "INSERT INTO bare VALUES (1, 1, 0), (2, 1, 0)")
    with pytest.raises(ConfigError, match="no primary key"):
        reader.run(extract={"table": "bare"})

    reader.run(extract={"table": "bare"}, keyColumns=["id"])
    reader.database.run("INSERT INTO bare VALUES (3, 1, 0)")
    with pytest.raises(KeysUnknownError, match="told apart by id so far, and now by part"):
        reader.run(extract={"table": "bare"}, keyColumns=["part"])
    reader.run(extract={"table": "bare"}, keyColumns=["id"])

    assert reader.ids() == [1, 2, 3]


def test_the_rows_of_a_query_are_told_apart_by_the_keys_that_the_file_names(reader: Reader) -> None:
    reader.add(1, 2, at=1)
    query = {"query": "SELECT id, at FROM sent WHERE at < 9 -- not yet"}
    with pytest.raises(ConfigError, match="no primary key") as told:
        reader.run(extract=query)
    assert "keyColumns" in told.value.hint
    reader.run(extract=query, keyColumns=["ID"])
    reader.add(3, at=1)
    reader.add(4, at=9)
    reader.run(extract=query, keyColumns=["id"])

    assert reader.ids() == [1, 2, 3]


def test_a_range_lands_once_and_moves_no_position(reader: Reader) -> None:
    reader.add(1, 2, 3)
    reader.run("Upsert")
    reader.database.run("UPDATE sent SET part = 9")

    first = reader.run("Upsert", options={"between": ("2", "3")})
    second = reader.run("Upsert", options={"between": ("2", "3")})

    assert (first.load.rows_updated, second.load.already_landed) == (1, True)
    assert [row["part"] for row in both(reader.spark, reader.out)] == [0, 9, 0]


BOUNDS = {
    "int": ("9", "10"),
    "date": ("2024-01-31", "2024-02-01"),
    "timestamp(6)": ("2024-01-31 02:30:00", "2024-01-31 02:30:00.000001"),
    "varchar(9)": ("10", "9"),
}


@pytest.mark.parametrize(("kind", "bounds"), list(BOUNDS.items()), ids=list(BOUNDS))
def test_a_range_whose_ends_are_swapped_is_refused_and_spends_no_key(
    reader: Reader, kind: str, bounds: tuple[str, str]
) -> None:
    start, end = bounds
    reader.database.run("DROP TABLE sent", f"CREATE TABLE sent (id INT PRIMARY KEY, at {kind}, part INT)")
    reader.add(1, at=f"'{start}'")
    for swapped in ((end, start), (start, start)):
        with pytest.raises(ConfigError, match=f"{swapped[0]} is not before {swapped[1]}") as told:
            reader.run("Upsert", options={"between": swapped})
    assert told.value.hint == "Swap --from and --to."

    assert reader.run("Upsert", options={"between": (start, end)}).load.rows_inserted == 1


@pytest.mark.parametrize(("order", "ends"), [("C", ("B", "b")), ("en-x-icu", ("a", "B"))])
def test_the_ends_of_a_range_are_in_the_order_of_the_column(
    on_postgres: Reader, order: str, ends: tuple[str, str]
) -> None:
    on_postgres.database.run(
        "DROP TABLE sent", f'CREATE TABLE sent (id INT PRIMARY KEY, at text COLLATE "{order}", part INT)'
    )
    on_postgres.add(1, at="'a'")

    assert on_postgres.run("Upsert", options={"between": ends}).load.rows_inserted == 1


# The values of each kind in their order; the last one is where the next row comes to the very value.
KINDS = {
    "smallint": "-32768 | -1 | 0 | 32767",
    "bigint": "-9223372036854775808 | -1 | 0 | 9223372036854775807",
    "decimal(38,10)": "-1.5 | 0.0000000001 | 9999999999999999999999999999.9999999998",
    "date": "'1000-01-01' | '1969-12-31' | '2024-02-29' | '9999-12-31'",
    "timestamp(6)": "'1970-01-02 00:00:00.000001' | '2024-01-31 02:30:00' | '2024-01-31 02:30:00.000001'",
    "varchar(99)": "'' | 'it''s 100% ?' | 'nan' | 'ÿ😀 {fn} -- '",
}
OWN = {
    "PostgreSQL": {
        "numeric": "-1 | 0.5 | 12345678901234567890 | 12345678901234567890.000000000000000001",
        "timestamptz": "'0001-01-01 00:00:00Z' | '2024-03-31 02:30:00+02' | '2024-03-31 02:30:00.000001+02'",
        'text COLLATE "C"': "'' | 'A' | 'a' | 'ä'",
        "char(5)": "'' | 'a' | 'b ' | 'c'",
    },
    "MySQL": {
        "bigint unsigned": "0 | 1 | 9223372036854775808 | 18446744073709551615",
        "datetime(6)": "'1000-01-01 00:00:00' | '2024-03-31 02:30:00' | '2024-03-31 02:30:00.000001'",
        "varchar(9) CHARACTER SET latin1": "'' | 'a' | 'b' | 'ü'",
        "varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin": "'' | 'A' | 'a' | '😀'",
        "year": "1901 | 1999 | 2000 | 2155",
        "bit(8)": "0 | 9 | 128 | 255",
    },
}


def _kinds() -> Iterator[Any]:
    for database, own in OWN.items():
        for kind, values in {**KINDS, **own}.items():
            yield pytest.param(database, kind, values.split(" | "), id=f"{database} {kind}")


@pytest.mark.parametrize(("database", "kind", "values"), list(_kinds()), indirect=["database"])
def test_every_kind_of_cursor_reads_on_from_each_of_its_values(reader: Reader, kind: str, values: list[str]) -> None:
    reader.database.run("DROP TABLE sent", f"CREATE TABLE sent (id INT PRIMARY KEY, at {kind} NOT NULL, part INT)")
    for number, value in enumerate([*values, values[-1]], 1):
        reader.add(number, at=value)
        assert reader.run().load.rows_inserted == 1

    assert reader.run().load.batches == 0
    assert reader.ids() == [*range(1, len(values) + 2)]


def test_a_cursor_without_an_exact_order_is_refused(on_postgres: Reader) -> None:
    on_postgres.database.run("ALTER TABLE sent ALTER COLUMN at TYPE DOUBLE PRECISION")
    on_postgres.add(1)

    with pytest.raises(ConfigError, match="no exact order"):
        on_postgres.run()
