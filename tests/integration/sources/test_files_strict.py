"""Records that cannot be read: told with file and text, or let through and set aside when the file says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.rows import both, collected

import deltaworks
from deltaworks.errors import ConfigError, RunError
from deltaworks.lake.log import Log

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from deltaworks.runs.result import RunResult

GOOD = {
    "csv": b"id,name,n\n1,x,1\n",
    "json": b'{"id": 1, "name": "x", "n": 1}\n',
}
BAD = {
    "csv": {
        "short": (b"2,y\n", "2,y"),
        "long": (b"2,y,2,2\n", "2,y,2,2"),
        "utf8": (b"2,\xff,2\n", "�"),
    },
    "json": {
        "broken": (b'{"id": 2, "name":\n', '{"id": 2, "name":'),
        "no object": (b"[1, 2]\n", "[1, 2]"),
        "utf8": (b'{"id": 2, "name": "\xff", "n": 2}\n', "�"),
    },
}
WRONG_TYPE = {"csv": (b"2,y,two\n", "2,y,two"), "json": (b'{"id": 2, "name": "y", "n": "two"}\n', '"n": "two"')}
DDL = "id INT, name STRING, n INT"
KINDS = [(kind, name) for kind, cases in BAD.items() for name in cases]
SCHEMAS: list[dict[str, Any]] = [{}, {"schema": DDL}]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()


def pipeline(
    kind: str, *, options: dict[str, Any] | None = None, expect: Any = (), transform: Any = (), **params: Any
) -> dict[str, Any]:
    said = ({"header": True} if kind == "csv" else {}) | (options or {})
    return {
        "pipelineId": "copy",
        "extract": {
            "sourceType": "File",
            "connectionParams": {"format": kind, "path": "in", **params},
            "options": said,
        },
        "transform": list(transform),
        "expect": list(expect),
        "load": {"sinkType": "DeltaLake", "path": "out"},
        "writeMode": "Append",
    }


def put(kind: str, record: bytes, folder: Path) -> None:
    (folder / f"in/a.{kind}").write_bytes(GOOD[kind])
    (folder / f"in/b {kind}").write_bytes(GOOD[kind] + record)


@pytest.mark.parametrize("schema", SCHEMAS, ids=["inferred", "given"])
@pytest.mark.parametrize(("kind", "name"), KINDS)
def test_a_record_that_cannot_be_read_fails_the_run_with_its_file_and_text(
    spark: SparkSession, tmp_path: Path, kind: str, name: str, schema: dict[str, Any]
) -> None:
    record, text = BAD[kind][name]
    put(kind, record, tmp_path)

    with pytest.raises(RunError) as caught:
        deltaworks.run(pipeline(kind, **schema), spark=spark)

    assert f"{tmp_path}/in/b {kind} holds a record that cannot be read: " in str(caught.value)
    assert text in str(caught.value)
    assert "_corrupt_record" in caught.value.hint
    assert Log(str(tmp_path / "out")).latest() is None


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_value_of_another_type_fails_the_run_whatever_columns_are_wanted(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    record, text = WRONG_TYPE[kind]
    put(kind, record, tmp_path)
    only_id = {"type": "select", "parameters": {"columns": ["id"]}}

    with pytest.raises(RunError) as caught:
        deltaworks.run(pipeline(kind, schema=DDL, transform=[only_id]), spark=spark)

    assert text in str(caught.value)
    assert '"n":null' in str(caught.value)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_rows_asked_for_from_python_tell_the_same(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    put(kind, WRONG_TYPE[kind][0], tmp_path)

    rows = deltaworks.extract(pipeline(kind, schema=DDL)["extract"], spark=spark)

    assert rows.dtypes == [("id", "int"), ("name", "string"), ("n", "int")]
    assert collected(rows.where("n = 1").selectExpr("id", "_metadata.file_name AS file"))[0] == {
        "id": 1,
        "file": f"a.{kind}",
    }
    with pytest.raises(Exception, match="holds a record that cannot be read"):
        rows.count()


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_records_that_cannot_be_read_are_set_aside_when_asked_and_none_is_lost(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    wrong = [record for record, _ in BAD[kind].values() if b"\xff" not in record] + [WRONG_TYPE[kind][0]]
    (tmp_path / f"in/a.{kind}").write_bytes(GOOD[kind] + b"".join(wrong))
    rules = [
        {"name": "readable", "check": "_corrupt_record IS NULL", "onFailure": "setAside"},
        {"name": "has-id", "check": "id IS NOT NULL OR _corrupt_record IS NOT NULL"},
    ]

    result = deltaworks.run(pipeline(kind, schema=f"{DDL}, _corrupt_record STRING", expect=rules), spark=spark).load

    assert (result.rows_read, result.rows_inserted, result.rows_set_aside) == (1 + len(wrong), 1, len(wrong))
    assert both(spark, tmp_path / "out") == [{"id": 1, "name": "x", "n": 1, "_corrupt_record": None}]
    aside = [json.loads(row["row"])["_corrupt_record"] for row in both(spark, tmp_path / "out_aside")]
    assert sorted(aside) == sorted(record.decode().strip() for record in wrong)


def loaded(spark: SparkSession, kind: str, **params: Any) -> RunResult:
    return deltaworks.run(pipeline(kind, **params), spark=spark)


@pytest.mark.parametrize(("mode", "expected"), [("PERMISSIVE", 3), ("DROPMALFORMED", 2)])
@pytest.mark.parametrize("kind", ["csv", "json"])
def test_sparks_own_modes_count_when_said(
    spark: SparkSession, tmp_path: Path, kind: str, mode: str, expected: int
) -> None:
    put(kind, WRONG_TYPE[kind][0], tmp_path)

    found = loaded(spark, kind, schema=DDL, options={"Mode": mode})

    assert found.load.rows_inserted == expected


def test_text_of_another_encoding_is_read_when_its_name_is_said(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in/a.csv").write_bytes("id,name,n\n1,ü,1\n".encode("latin-1"))

    loaded(spark, "csv", options={"encoding": "ISO-8859-1"})

    assert both(spark, tmp_path / "out") == [{"id": "1", "name": "ü", "n": "1"}]


def test_bad_bytes_let_through_can_be_found_by_a_rule(spark: SparkSession, tmp_path: Path) -> None:
    put("csv", BAD["csv"]["utf8"][0], tmp_path)
    rule = {"name": "text", "check": r"NOT contains(name, '\uFFFD')", "onFailure": "setAside"}

    result = loaded(spark, "csv", options={"mode": "PERMISSIVE"}, expect=[rule]).load

    assert (result.rows_read, result.rows_inserted, result.rows_set_aside) == (3, 2, 1)


@pytest.mark.parametrize("schema", SCHEMAS, ids=["inferred", "given"])
def test_columns_of_csv_are_never_taken_by_place_against_the_header(
    spark: SparkSession, tmp_path: Path, schema: dict[str, Any]
) -> None:
    (tmp_path / "in/a.csv").write_bytes(GOOD["csv"])
    (tmp_path / "in/b.csv").write_bytes(b"name,id,n\n2,2,2\n")

    with pytest.raises(RunError, match=r"in/b\.csv has another header: name, id, n instead of id, name, n"):
        loaded(spark, "csv", **schema)
    assert Log(str(tmp_path / "out")).latest() is None
    assert loaded(spark, "csv", options={"enforceSchema": True}, **schema).load.rows_inserted == 2


def test_a_schema_with_another_number_of_columns_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in/a.csv").write_bytes(GOOD["csv"])

    with pytest.raises(RunError, match=r"in/a\.csv has another header: 3 columns instead of 1"):
        loaded(spark, "csv", schema="id INT")


def test_files_of_another_format_are_told(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in/a.csv").write_bytes(GOOD["csv"])

    with pytest.raises(ConfigError, match=r"No record of .*in is JSON"):
        loaded(spark, "json")
