"""Values that are easily spoilt on the way: they come back equal from both engines, or fail before the commit."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import both, frame, from_spark, stored
from tests.integration.sinks.loads import landed, load

from deltaworks.lake.log import Log

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

PARTITIONS = [
    "two words",
    "100%",
    "a%2Fb",
    "a/b",
    "..",
    ".",
    "ü 日本",
    "line\nbreak",
    "tab\tand \\ back",
    "a=b",
    "'quoted'",
    "#?&",
    "  ",
    "__HIVE_DEFAULT_PARTITION__x",
    None,
]


@pytest.mark.parametrize("mode", ["Append", "Overwrite", "Upsert"])
def test_partition_values_come_back_equal(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    rows = [{"id": number, "part": value} for number, value in enumerate(PARTITIONS)]
    given = frame(spark, *rows, schema="id int, part string")
    keys: dict[str, Any] = {"mergeKeys": ["part"]} if mode == "Upsert" else {}

    landed(load(given, tmp_path / "t", mode, partitionBy="part", **keys))
    again = landed(load(given, tmp_path / "t", mode, **keys))

    expected = sorted(rows * (2 if mode == "Append" else 1), key=str)
    assert both(spark, tmp_path / "t") == expected
    if mode == "Upsert":
        assert (again.rows_inserted, again.rows_updated) == (0, len(rows))


def test_an_empty_text_as_partition_value_is_null_which_is_how_delta_has_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    landed(load(frame(spark, {"id": 1, "part": ""}), tmp_path / "t", "Append", partitionBy="part"))

    assert both(spark, tmp_path / "t") == [{"id": 1, "part": None}]


def test_an_empty_text_as_key_and_partition_finds_its_row_again(spark: SparkSession, tmp_path: Path) -> None:
    rows = frame(spark, {"part": "", "n": 1}, {"part": "a", "n": 1})
    params: dict[str, Any] = {"mergeKeys": "part", "partitionBy": "part"}
    landed(load(rows, tmp_path / "t", "Upsert", **params))

    again = landed(load(rows, tmp_path / "t", "Upsert", **params))
    twice = load(frame(spark, {"part": "", "n": 1}, {"part": None, "n": 1}), tmp_path / "t", "Upsert", **params)

    assert (again.rows_inserted, again.rows_updated) == (0, 2)
    assert len(both(spark, tmp_path / "t")) == 2
    assert '{"part":null} 2 times' in (twice.error or "")


TIMES = [
    "0001-01-01 00:00:00Z",
    "1582-10-10 12:00:00Z",
    "1900-01-01 00:00:00.000001Z",
    "2024-03-31 01:30:00Z",
    "2024-03-31 02:30:00+02:00",
    "2024-10-27 01:30:00+02:00",
    "2024-10-27 01:30:00+01:00",
    "2024-06-30 23:59:59.999999-11:00",
    "9999-12-31 23:59:59.999999Z",
]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_times_come_back_as_the_same_instants(spark: SparkSession, tmp_path: Path, zone: str) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    values = ", ".join(f"({number}, TIMESTAMP'{time}')" for number, time in enumerate(TIMES))
    rows = session.sql(f"SELECT * FROM VALUES {values} AS t(id, at)")

    landed(load(rows, tmp_path / "t", "Append"))
    landed(load(rows, tmp_path / "t", "Upsert", mergeKeys=["at"]))  # finds every one of them

    expected = [dt.datetime.fromisoformat(time.replace("Z", "+00:00")).astimezone(dt.UTC) for time in TIMES]
    assert [row["at"] for row in stored(tmp_path / "t")] == expected
    assert [row["at"].astimezone(dt.UTC) for row in from_spark(spark, tmp_path / "t")] == expected


def test_times_without_a_zone_and_dates_come_back_as_written(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.sql(
        "SELECT TIMESTAMP_NTZ'2024-03-31 02:30:00.123456' AS at, DATE'0001-01-01' AS first, DATE'9999-12-31' AS last"
    )

    landed(load(rows, tmp_path / "t", "Append"))

    expected = {"at": dt.datetime(2024, 3, 31, 2, 30, 0, 123456), "first": dt.date.min, "last": dt.date.max}
    assert both(spark, tmp_path / "t") == [expected]


def test_nanoseconds_are_refused_where_they_would_be_lost(spark: SparkSession, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    import deltaworks

    (tmp_path / "in").mkdir()
    times = pa.array([1_700_000_000_000_000_001], pa.timestamp("ns", "UTC"))
    pq.write_table(pa.table({"at": times}), tmp_path / "in/a.parquet", version="2.6")
    source = {"sourceType": "File", "connectionParams": {"format": "parquet", "path": str(tmp_path / "in")}}

    with pytest.raises(deltaworks.DeltaworksError):
        deltaworks.run(
            {
                "pipelineId": "nano",
                "extract": source,
                "load": {"sinkType": "DeltaLake", "path": str(tmp_path / "t")},
                "writeMode": "Append",
            },
            spark=spark,
        )

    assert Log(str(tmp_path / "t")).latest() is None


@pytest.mark.parametrize(
    "expression",
    [
        "CAST(1e10 AS int)",
        "CAST('12345.6' AS decimal(4,1))",
        "CAST('x' AS int)",
        "2147483647 + int(id)",
        "CAST(9223372036854775807 AS bigint) + id",
    ],
)
@pytest.mark.parametrize("mode", ["Append", "Upsert"])
def test_a_number_that_overflows_fails_and_nothing_is_written(
    spark: SparkSession, tmp_path: Path, mode: str, expression: str
) -> None:
    rows = spark.range(1, 3).selectExpr("id", f"{expression} AS n")
    keys: dict[str, Any] = {"mergeKeys": "id"} if mode == "Upsert" else {}

    result = load(rows, tmp_path / "t", mode, **keys)

    assert not result.success
    assert Log(str(tmp_path / "t")).latest() is None
    assert list(tmp_path.glob(".*staging*")) == []
