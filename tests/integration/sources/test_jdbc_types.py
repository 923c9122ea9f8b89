"""Values of every type of a database, as they come into Spark: the same as in the tables of the documents."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.databases import copied, extract

from deltaworks.errors import DeltaworksError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.servers.database import TestDatabase


pytestmark = pytest.mark.usefixtures("elsewhere")


PAGE = Path(__file__).parents[3] / "docs/databases.md"


@dataclass(frozen=True)
class Case:
    """A type, a value of it in SQL, and what both become in Spark."""

    type: str
    value: str
    kind: str
    expected: Any


LONG, OPEN = "1234567890123456789012345678.1234567890", "12345678901234567890.123456789012345678"
UUID = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
POSTGRES = [
    Case("boolean", "true", "boolean", True),
    Case("smallint", "-32768", "smallint", -32768),
    Case("integer", "2147483647", "int", 2147483647),
    Case("bigint", "-9223372036854775808", "bigint", -9223372036854775808),
    Case("real", "'NaN'", "float", float("nan")),
    Case("double precision", "1e308", "double", 1e308),
    Case("numeric(12,2)", "1234567890.12", "decimal(12,2)", Decimal("1234567890.12")),
    Case("numeric(38,10)", LONG, "decimal(38,10)", Decimal(LONG)),
    Case("numeric", OPEN, "decimal(38,18)", Decimal(OPEN)),
    Case("numeric(50,0)", "1e49", "string", "1" + "0" * 49),
    Case("date", "'0001-01-01'", "date", date(1, 1, 1)),
    Case("timestamp with time zone", "'2024-03-31 02:30:00.123456+02'", "timestamp", "2024-03-31T00:30:00.123456Z"),
    Case("timestamp", "'2024-03-31 02:30:00.123456'", "timestamp_ntz", datetime(2024, 3, 31, 2, 30, 0, 123456)),
    Case("time", "'24:00:00'", "string", "24:00:00"),
    Case("interval", "'1 year 2 days'", "string", "1 year 2 days"),
    Case("text", "E'a\\nb\\'ü€'", "string", "a\nb'ü€"),
    Case("varchar(5)", "'abc  '", "string", "abc  "),
    Case("char(5)", "'abc'", "string", "abc"),
    Case("bytea", "'\\x00ff'", "binary", b"\x00\xff"),
    Case("uuid", f"'{UUID.upper()}'", "string", UUID),
    Case("json", """'{"a": [1, null]}'""", "string", '{"a": [1, null]}'),
    Case("jsonb", """'{"b":1,"a":2}'""", "string", '{"a": 2, "b": 1}'),
    Case("mood", "'very happy'", "string", "very happy"),
    Case("posint", "7", "int", 7),
    Case("inet", "'192.168.0.1/24'", "string", "192.168.0.1/24"),
    Case("bit(3)", "B'101'", "string", "101"),
    Case("money", "12.34", "string", "$12.34"),
    Case("xml", "'<a>1</a>'", "string", "<a>1</a>"),
    Case("int4range", "'[1,5)'", "string", "[1,5)"),
    Case("oid", "4294967295", "bigint", 4294967295),
    Case("integer[]", "ARRAY[1, NULL, 3]", "array<int>", [1, None, 3]),
    Case("text[]", "ARRAY['a', 'b,\"c']", "array<string>", ["a", 'b,"c']),
    Case("varchar(9)[]", "ARRAY['a']", "array<string>", ["a"]),
    Case("numeric(5,2)[]", "ARRAY[1.25]", "array<decimal(5,2)>", [Decimal("1.25")]),
    Case("boolean[]", "ARRAY[true, false]", "array<boolean>", [True, False]),
    Case("double precision[]", "ARRAY[0.5]", "array<double>", [0.5]),
    Case("timestamp[]", "ARRAY['2024-03-31 02:30'::timestamp]", "array<timestamp_ntz>", [datetime(2024, 3, 31, 2, 30)]),
    Case("timestamptz[]", "'{}'::timestamptz[]", "array<timestamp>", []),
    Case("numeric[]", f"ARRAY[{OPEN}, NULL]", "array<decimal(38,18)>", [Decimal(OPEN), None]),
    Case("numeric(50,0)[]", "ARRAY[1e49]", "array<string>", ["1" + "0" * 49]),
    Case("date[]", "ARRAY['2024-01-01'::date]", "array<date>", [date(2024, 1, 1)]),
    Case("uuid[]", f"ARRAY['{UUID}'::uuid]", "array<string>", [UUID]),
    Case("mood[]", "ARRAY['sad'::mood]", "array<string>", ["sad"]),
    Case("jsonb[]", "ARRAY['{\"a\": 1}'::jsonb]", "array<string>", ['{"a": 1}']),
]


MYSQL = [
    Case("bigint", "-9223372036854775808", "bigint", -9223372036854775808),
    Case("bigint unsigned", "18446744073709551615", "decimal(20,0)", Decimal("18446744073709551615")),
    Case("int", "-2147483648", "int", -2147483648),
    Case("int unsigned", "4294967295", "bigint", 4294967295),
    Case("mediumint unsigned", "16777215", "int", 16777215),
    Case("smallint", "-32768", "smallint", -32768),
    Case("smallint unsigned", "65535", "int", 65535),
    Case("tinyint", "-128", "tinyint", -128),
    Case("tinyint unsigned", "255", "smallint", 255),
    Case("tinyint(1)", "1", "boolean", True),
    Case("bit(1)", "b'1'", "boolean", True),
    Case("bit(8)", "b'10000001'", "bigint", 129),
    Case("bit(64)", "18446744073709551615", "decimal(20,0)", Decimal("18446744073709551615")),
    Case("float", "0.5", "float", 0.5),
    Case("double", "1e308", "double", 1e308),
    Case("decimal(12,2)", "-1234567890.12", "decimal(12,2)", Decimal("-1234567890.12")),
    Case("decimal(12,2) unsigned", "1234567890.12", "decimal(12,2)", Decimal("1234567890.12")),
    Case("decimal(38,10)", LONG, "decimal(38,10)", Decimal(LONG)),
    Case("decimal(65,0)", "9" * 65, "string", "9" * 65),
    Case("date", "'1000-01-01'", "date", date(1000, 1, 1)),
    Case("datetime(6)", "'2024-03-31 02:30:00.123456'", "timestamp_ntz", datetime(2024, 3, 31, 2, 30, 0, 123456)),
    Case("timestamp(6)", "'2024-03-31 00:30:00.123456'", "timestamp", "2024-03-31T00:30:00.123456Z"),
    Case("time(3)", "'-838:59:59'", "string", "-838:59:59.000"),
    Case("year", "2155", "int", 2155),
    Case("varchar(9)", "'ü€\\n\\'😀'", "string", "ü€\n'😀"),
    Case("char(9)", "'ab'", "string", "ab"),
    Case("longtext", "'x'", "string", "x"),
    Case("json", """'{"a": [1, null]}'""", "string", '{"a": [1, null]}'),
    Case("enum('a','b')", "'b'", "string", "b"),
    Case("set('a','b')", "'a,b'", "string", "a,b"),
    Case("binary(2)", "x'00ff'", "binary", b"\x00\xff"),
    Case("varbinary(9)", "x'00ff'", "binary", b"\x00\xff"),
    Case("longblob", "x'00ff'", "binary", b"\x00\xff"),
    Case("point", "POINT(1, 2)", "string", "POINT(1 2)"),
    Case("uuid", f"'{UUID}'", "string", UUID),
    Case("inet6", "'::1'", "string", "::1"),
]


def table_of(cases: list[Case], quote: str) -> str:
    return ", ".join(f"{quote}{case.type}{quote} {case.type}" for case in cases)


def compared(spark: SparkSession, database: TestDatabase, cases: list[Case], **parameters: Any) -> None:
    rows = extract(spark, database, **parameters)
    kinds = dict(rows.dtypes)
    assert kinds == {case.type: case.kind for case in cases}
    assert all(field.metadata == {} for field in rows.schema)
    texts = [
        f"date_format(`{case.type}`, \"yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX\") AS `{case.type}`"
        if case.kind == "timestamp"
        else f"`{case.type}`"
        for case in cases
    ]
    found = {str(row[next(iter(kinds))]): row.asDict() for row in rows.selectExpr(*texts).collect()}
    empty = found.pop("None")
    assert set(empty.values()) == {None}
    ((_, values),) = found.items()
    assert {name: repr(value) for name, value in values.items()} == {case.type: repr(case.expected) for case in cases}


def test_values_of_postgresql_are_what_the_database_has(spark: SparkSession, pg: TestDatabase) -> None:
    pg.run("CREATE TYPE mood AS ENUM ('sad', 'very happy')", "CREATE DOMAIN posint AS integer CHECK (value > 0)")
    pg.run(
        f"CREATE TABLE t ({table_of(POSTGRES, chr(34))})",
        f"INSERT INTO t VALUES ({', '.join(f'{case.value}' for case in POSTGRES)})",
        f"INSERT INTO t VALUES ({', '.join('NULL' for _ in POSTGRES)})",
    )

    compared(spark, pg, POSTGRES, table="t")
    compared(spark, pg, POSTGRES, query="SELECT * FROM t")


def test_values_of_mysql_are_what_the_database_has(spark: SparkSession, my: TestDatabase) -> None:
    my.run(
        "SET time_zone = '+00:00'",
        f"CREATE TABLE t ({', '.join(f'`{case.type}` {case.type} NULL' for case in MYSQL)})",
        f"INSERT INTO t VALUES ({', '.join(f'{case.value}' for case in MYSQL)})",
        f"INSERT INTO t VALUES ({', '.join('NULL' for _ in MYSQL)})",
    )

    compared(spark, my, MYSQL, table="t")
    compared(spark, my, MYSQL, query="SELECT * FROM t")


def test_a_number_that_would_lose_digits_fails_the_read_with_the_number(
    spark: SparkSession, pg: TestDatabase, tmp_path: Path
) -> None:
    pg.run("CREATE TABLE t (n numeric)", "INSERT INTO t VALUES (1.5), (0.1234567890123456789)")

    with pytest.raises(
        DeltaworksError, match=r"0\.1234567890123456789 does not fit numeric\(38,18\): cast it"
    ) as failed:
        copied(spark, pg, tmp_path / "t", table="t")
    assert failed.value.exit_code == 1
    assert not list((tmp_path / "t/_delta_log").glob("*.json"))


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (
            "numeric[]",
            "ARRAY[0.5, 0.1234567890123456789]",
            r"0\.1234567890123456789 does not fit numeric\(38,18\): cast",
        ),
        ("int[]", "'{{1,2},{3,4}}'", r"\{\{1,2\},\{3,4\}\} has more than one dimension: cast it to text in a query"),
        ("text[]", "'{{a,b},{c,d}}'", r"\{\{a,b\},\{c,d\}\} has more than one dimension: cast it to text in a query"),
        ("numeric[]", "'{{1.5}}'", "has more than one dimension"),
        ("numeric(5,2)[]", "'{{1.5}}'", "has more than one dimension"),
        ("date[]", "'{{2024-01-01}}'", "has more than one dimension"),
        ("uuid[]", f"'{{{{{UUID}}}}}'", "has more than one dimension"),
        ("timestamp[]", "'{{2024-01-01,2024-01-02}}'", "has more than one dimension"),
        ("timestamptz", "'infinity'", "infinity"),
        ("timestamp", "'-infinity'", "infinity"),
        ("timestamptz[]", "'{infinity}'", "infinity"),
        ("date", "'infinity'", "infinite"),
    ],
)
def test_a_value_that_spark_has_no_place_for_fails_the_read(
    spark: SparkSession, pg: TestDatabase, kind: str, value: str, said: str
) -> None:
    pg.run(f"CREATE TABLE t (v {kind})", "INSERT INTO t VALUES (NULL)", f"INSERT INTO t VALUES ({value})")

    with pytest.raises(Exception, match=said):
        extract(spark, pg, table="t").collect()


@pytest.mark.parametrize(("kind", "value"), [("timestamptz", "'infinity'"), ("int[]", "'{{1}}'")])
def test_a_load_of_such_a_value_fails_and_writes_nothing(
    spark: SparkSession, pg: TestDatabase, tmp_path: Path, kind: str, value: str
) -> None:
    pg.run(f"CREATE TABLE t (v {kind})", f"INSERT INTO t VALUES ({value})")

    with pytest.raises(DeltaworksError, match=r"infinity|more than one dimension") as failed:
        copied(spark, pg, tmp_path / "t", table="t")
    assert failed.value.exit_code == 1
    assert not list((tmp_path / "t/_delta_log").glob("*.json"))


def test_moments_in_a_list_are_the_same_instants(spark: SparkSession, pg: TestDatabase) -> None:
    pg.run("CREATE TABLE t (at timestamptz[])", "INSERT INTO t VALUES ('{2024-03-31 02:30:00.5+02,NULL,1500-01-01Z}')")
    (row,) = extract(spark, pg, table="t").selectExpr("transform(at, each -> unix_micros(each)) AS at").collect()

    first, last = (datetime(2024, 3, 31, 0, 30, 0, 500000), datetime(1500, 1, 1))
    assert row["at"] == [
        (at and (at - datetime(1970, 1, 1)) // timedelta(microseconds=1)) for at in (first, None, last)
    ]


def test_a_float_has_all_its_digits_and_is_found_by_them(spark: SparkSession, database: TestDatabase) -> None:
    values = ["16777216", "3.1415927", "123456.789", "1e-30", "-0.1"]
    kind = "real" if database.kind == "PostgreSQL" else "float"
    database.run(f"CREATE TABLE t (x {kind})", f"INSERT INTO t VALUES ({'), ('.join(values)})")
    rows = extract(spark, database, table="t")

    assert rows.dtypes == [("x", "float")]
    for value in values:
        found = rows.where(f"x = CAST('{value}' AS float)").selectExpr("CAST(x AS double) AS x").collect()
        assert [row["x"] for row in found] == [struct.unpack("f", struct.pack("f", float(value)))[0]]


@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Berlin"])
def test_a_moment_is_the_same_whatever_zone_the_server_has(spark: SparkSession, my: TestDatabase, zone: str) -> None:
    offset = {"America/New_York": "-05:00", "Europe/Berlin": "+01:00"}[zone]
    my.run(f"SET time_zone = '{offset}'", "CREATE TABLE t (at timestamp)", "INSERT INTO t VALUES ('2024-01-01 00:00')")
    (row,) = extract(spark, my, table="t").selectExpr("unix_seconds(at) s").collect()

    assert row["s"] == datetime.fromisoformat(f"2024-01-01T00:00{offset}").timestamp()


@pytest.mark.parametrize(
    "text",
    [
        "0001-01-01 00:00:00",
        "1883-11-18 12:03:57.5",
        "2024-06-15 01:02:03.000001",
        "2099-12-31 23:59:59.999999",
        "9999-12-31 23:59:59.999999",
    ],
)
def test_the_first_and_the_last_times_are_kept(spark: SparkSession, pg: TestDatabase, text: str) -> None:
    pg.run("CREATE TABLE t (at timestamptz, clock timestamp)", f"INSERT INTO t VALUES ('{text}+00', '{text}')")
    micros = "unix_micros(at) AS at, unix_micros(to_timestamp(CAST(clock AS STRING) || ' UTC')) AS clock"
    (row,) = extract(spark, pg, table="t").selectExpr(*micros.split(", ")).collect()

    expected = (datetime.fromisoformat(text) - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    assert (row["at"], row["clock"]) == (expected, expected)


def test_a_date_that_is_none_becomes_null(spark: SparkSession, my: TestDatabase) -> None:
    my.run(
        "SET sql_mode = ''",
        "CREATE TABLE t (id int, d date, dt datetime, ts timestamp)",
        "INSERT INTO t VALUES (1, '0000-00-00', '0000-00-00', '0000-00-00'), (2, '2024-00-15', '2024-06-00', NULL)",
        "INSERT INTO t VALUES (3, '2024-06-15', '2024-06-15 01:02:03', '2024-06-15 01:02:03')",
    )
    rows = extract(spark, my, table="t").orderBy("id").drop("id").collect()

    assert [[value is None for value in row] for row in rows] == [[True] * 3, [True] * 3, [False] * 3]


def test_a_number_in_a_boolean_is_told_and_not_taken_for_true(
    spark: SparkSession, my: TestDatabase, tmp_path: Path
) -> None:
    my.run("CREATE TABLE t (paid tinyint(1))", "INSERT INTO t VALUES (0), (1), (2)")

    with pytest.raises(DeltaworksError, match=r"paid is TINYINT\(1\), a boolean, but a row has 2; cast it"):
        copied(spark, my, tmp_path / "t", table="t")
    query = "SELECT CAST(paid AS SIGNED) AS paid FROM t ORDER BY 1"
    rows = extract(spark, my, query=query).collect()
    assert [row["paid"] for row in rows] == [0, 1, 2]


@pytest.mark.parametrize("cases", [POSTGRES, MYSQL], ids=["PostgreSQL", "MySQL"])
def test_the_tables_of_the_documents_say_what_becomes_of_each_type(cases: list[Case]) -> None:
    tables = re.split(r"\n\n", PAGE.read_text(encoding="utf-8"))
    found = [dict(re.findall(r"^\| `(.+?)` \| `(.+?)` \|", table, re.MULTILINE)) for table in tables]

    assert {case.type: case.kind for case in cases} in found
