"""What a file may say of a database that is written."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

import pytest

from deltaworks import MemoryVault
from deltaworks.pipeline.around import Around
from deltaworks.pipeline.checking import InvalidFileError, checked
from deltaworks.pipeline.config import LoadPart, PipelineConfig
from deltaworks.pipeline.document import Document
from deltaworks.spark.sinks.jdbc import JdbcSink
from deltaworks.vault.storage import access_to

if TYPE_CHECKING:
    from pathlib import Path

HERE = {"host": "db", "database": "shop", "table": "t"}
DERBY = {"url": "jdbc:derby:memory:x", "driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver", "table": "t"}


def sink(kind: str = "PostgreSQL", mode: str = "Append", **params: Any) -> JdbcSink:
    part = {"sinkType": kind, "connectionParams": params}
    found = checked(LoadPart, Document({"load": part, "writeMode": mode})).load
    assert isinstance(found, JdbcSink)
    return found


def test_only_databases_with_transactions_we_know_take_keys() -> None:
    assert sink(**HERE).takes_keys
    assert sink("MySQL", **HERE).takes_keys
    assert not sink("JDBC", **DERBY).takes_keys


@pytest.mark.parametrize(
    ("kind", "mode", "params", "message"),
    [
        ("PostgreSQL", "Upsert", HERE, "Upsert needs mergeKeys"),
        ("JDBC", "Upsert", {**DERBY, "mergeKeys": "id"}, "Only PostgreSQL and MySQL can be upserted"),
        ("PostgreSQL", "Append", {**HERE, "mergeKeys": "id"}, "mergeKeys does nothing with Append"),
        ("PostgreSQL", "Append", {**HERE, "overwriteBy": "delete"}, "overwriteBy does nothing with Append"),
        ("MySQL", "Overwrite", {**HERE, "overwriteBy": "truncate"}, "MySQL cannot take a truncate back"),
        (
            "PostgreSQL",
            "Upsert",
            {**HERE, "mergeKeys": "id", "onDuplicateKeys": "keepNewest"},
            "keepNewest needs orderBy",
        ),
        ("PostgreSQL", "Upsert", {**HERE, "mergeKeys": "id", "orderBy": "n"}, "orderBy is for onDuplicateKeys"),
        ("PostgreSQL", "Append", {"host": "db"}, "table is missing"),
    ],
)
def test_what_cannot_be_meant_is_refused(kind: str, mode: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidFileError) as refused:
        sink(kind, mode, **params)
    assert message in " ".join(text for pair in refused.value.problems for text in pair)


def test_rows_are_kept_beside_what_is_set_aside_or_where_the_machine_keeps_such_things(tmp_path: Path) -> None:
    assert sink(**HERE, asidePath=str(tmp_path / "aside")).scratch("own") == f"{tmp_path}/.aside.own.staging"
    assert sink(**HERE).scratch("own") == f"{tempfile.gettempdir()}/.deltaworks.own.staging"


def test_what_is_set_aside_on_s3_needs_its_jars_and_the_way_there() -> None:
    found = sink(**HERE, asidePath="s3://bucket/aside")
    here = Around(session=lambda: pytest.fail("no Spark is needed"), vault=MemoryVault({}))

    assert found.jar_groups == {"postgres", "s3"}
    assert found.located(here).aside().access == found.located(here).access == access_to("s3://bucket/aside")


def test_rows_that_are_set_aside_need_a_place() -> None:
    whole = {
        "pipelineId": "p",
        "extract": {"sourceType": "DeltaLake", "path": "x"},
        "expect": [{"name": "small", "check": "id < 3", "onFailure": "setAside"}],
        "load": {"sinkType": "PostgreSQL", "connectionParams": HERE},
        "writeMode": "Append",
    }
    with pytest.raises(InvalidFileError, match="asidePath is missing"):
        checked(PipelineConfig, Document(whole))
