"""What a file may say of a database that is read."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from deltaworks.pipeline.checking import InvalidFileError, checked
from deltaworks.pipeline.config import ExtractPart, PipelineConfig
from deltaworks.pipeline.document import Document
from deltaworks.pipeline.order import reads
from deltaworks.spark.sources.jdbc import JdbcSource
from deltaworks.spark.sources.jdbc_cursor import JdbcIncremental

HERE = {"host": "db", "database": "shop"}


def source(
    kind: str = "PostgreSQL", *, credential: str | None = None, options: Any = None, **params: Any
) -> JdbcSource:
    part = {"sourceType": kind, "connectionParams": params, "options": options or {}}
    found = checked(ExtractPart, Document({"extract": part | ({"credentialId": credential} if credential else {})}))
    assert isinstance(found.extract, JdbcSource)
    return found.extract


def test_what_is_usual_need_not_be_said() -> None:
    found = source(**HERE, table="orders")

    assert (found.fetch_size, found.connections, found.session_init_statement) == (20_000, 4, None)
    assert found.jar_groups == {"postgres"}
    assert not found.several
    assert source("MySQL", **HERE, table="t").jar_groups == {"mysql"}
    assert source("JDBC", url="jdbc:mariadb://db/shop", table="t").jar_groups == {"mysql"}


def test_string_spellings_are_taken() -> None:
    found = source(**HERE, table="t", port="5433", fetchSize="10", connections="2")

    assert (found.port, found.fetch_size, found.connections) == (5433, 10, 2)


@pytest.mark.parametrize("params", [{"tables": '["a", "b"]'}, {"schemaName": "public"}])
def test_several_tables_are_named_or_meant(params: dict[str, str]) -> None:
    assert source(**HERE, **params).several


@pytest.mark.parametrize(
    ("kind", "params", "message"),
    [
        ("PostgreSQL", {"table": "t"}, "host is missing"),
        ("PostgreSQL", {**HERE}, "table is missing"),
        ("PostgreSQL", {**HERE, "table": "t", "query": "SELECT 1"}, "query and table are both given"),
        ("PostgreSQL", {**HERE, "tables": ["t"], "table": "u"}, "table and tables are both given"),
        ("PostgreSQL", {**HERE, "query": "SELECT 1", "schemaName": "x"}, "schemaName does nothing beside query"),
        ("PostgreSQL", {"url": "jdbc:mysql://db/x", "table": "t"}, "A PostgreSQL connector has a url of mysql"),
        ("PostgreSQL", {"url": "jdbc:postgresql://db/x", "host": "y", "table": "t"}, "host is given beside url"),
        ("PostgreSQL", {"url": "jdbc:postgresql://db/x?socketFactory=y", "table": "t"}, "could run code"),
        ("PostgreSQL", {"url": "jdbc:postgresql://db/x?currentSchema=y", "table": "t"}, "Write schemaName"),
        (
            "PostgreSQL",
            {"url": "jdbc:postgresql://db/x?sslmode=require", "sslMode": "disable", "table": "t"},
            "sslMode is given beside url",
        ),
        ("JDBC", {"host": "db", "table": "t"}, "url is missing"),
        ("JDBC", {"url": "jdbc:oracle:thin:@db", "table": "t"}, "driver is missing: a url of oracle does not tell it"),
        ("JDBC", {"url": "jdbc:x:y", "driver": "z", "schemaName": "s"}, "cannot be asked for its tables"),
        ("PostgreSQL", {**HERE, "table": "t", "connections": 0}, "connections"),
        ("PostgreSQL", {**HERE, "table": "t", "sslMode": "maybe"}, "sslMode"),
        ("PostgreSQL", {**HERE, "table": "t", "fetchsize": 5}, "Unknown key 'fetchsize'"),
    ],
)
def test_what_cannot_be_meant_is_refused(kind: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidFileError) as refused:
        source(kind, **params)
    assert message in " ".join(text for pair in refused.value.problems for text in pair)


@pytest.mark.parametrize("lag", [-100, "-100", "-10m", timedelta(minutes=-10), True, 0.5])
def test_a_lag_that_would_leave_rows_out_or_is_none_is_refused(lag: Any) -> None:
    with pytest.raises(ValidationError, match=r"lag|duration"):
        JdbcIncremental.model_validate({"cursorColumn": "id", "lag": lag})


@pytest.mark.parametrize(("lag", "meant"), [(0, 0), ("100", 100), ("10m", timedelta(minutes=10))])
def test_a_lag_is_a_number_or_a_duration(lag: Any, meant: Any) -> None:
    assert JdbcIncremental.model_validate({"cursorColumn": "id", "lag": lag}).lag == meant


@pytest.mark.parametrize("name", ["fetchsize", "dbTable", "numPartitions", "url"])
def test_an_option_that_is_a_key_of_its_own_is_refused(name: str) -> None:
    with pytest.raises(InvalidFileError, match="is a key of its own"):
        source(**HERE, table="t", options={name: "x"})


@pytest.mark.parametrize("name", ["password", "user", "socketFactory", "allowLoadLocalInfile"])
def test_an_option_that_is_a_login_or_dangerous_is_refused(name: str) -> None:
    with pytest.raises(InvalidFileError, match=r"login|could run code"):
        source(**HERE, table="t", options={name: "x"})


def pipeline(extract: dict[str, Any], load: dict[str, Any]) -> PipelineConfig:
    whole = {"pipelineId": "p", "extract": extract, "load": load, "writeMode": "Append"}
    return checked(PipelineConfig, Document(whole))


def test_several_tables_need_a_place_each() -> None:
    extract = {"sourceType": "PostgreSQL", "connectionParams": {**HERE, "tables": ["a", "b"]}}

    with pytest.raises(InvalidFileError, match="Several tables would go to one place") as refused:
        pipeline(extract, {"sinkType": "DeltaLake", "path": "lake"})
    assert refused.value.hint == "Write {table} for the name of each, as lake/{table}."
    assert pipeline(extract, {"sinkType": "DeltaLake", "path": "lake/{table}"}).part is None


@pytest.mark.parametrize(
    ("sink", "params"),
    [
        ("PostgreSQL", {**HERE, "table": "{table}"}),
        ("Kafka", {"topic": "{table}", "kafka.bootstrap.servers": "a:9092"}),
    ],
)
def test_several_tables_need_a_place_each_for_what_is_set_aside(sink: str, params: dict[str, Any]) -> None:
    extract = {"sourceType": "PostgreSQL", "connectionParams": {**HERE, "tables": ["a", "b"]}}

    with pytest.raises(InvalidFileError, match="Rows of several tables would be set aside in one place") as refused:
        pipeline(extract, {"sinkType": sink, "connectionParams": {**params, "asidePath": "/lake/aside"}})
    assert refused.value.hint == "Write {table} for the name of each, as asidePath: lake/{table}_aside."
    each = pipeline(extract, {"sinkType": sink, "connectionParams": {**params, "asidePath": "/lake/{table}_aside"}})
    assert each.load.for_table("b").aside().place == "/lake/b_aside"


def test_an_input_is_one_table() -> None:
    whole = {
        "pipelineId": "p",
        "inputs": {"more": {"sourceType": "PostgreSQL", "connectionParams": {**HERE, "tables": ["a", "b"]}}},
        "extract": {"sourceType": "DeltaLake", "path": "x"},
        "load": {"sinkType": "DeltaLake", "path": "y"},
        "writeMode": "Append",
    }
    with pytest.raises(InvalidFileError, match=r"inputs\.more names several tables"):
        checked(PipelineConfig, Document(whole))


def test_a_pipeline_that_reads_the_table_another_writes_comes_after_it() -> None:
    delta = {"sinkType": "DeltaLake", "path": "x"}
    into = {"sinkType": "PostgreSQL", "connectionParams": {**HERE, "table": "t"}}
    out = {"sourceType": "PostgreSQL", "connectionParams": {**HERE, "table": "t"}}
    other = {"sourceType": "PostgreSQL", "connectionParams": {**HERE, "table": "t2"}}
    writer = pipeline({"sourceType": "DeltaLake", "path": "z"}, into)

    assert reads(pipeline(out, delta), writer)
    assert not reads(pipeline(other, delta), writer)
