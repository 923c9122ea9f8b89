from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from tests.unit.tables import append, land, rewrite

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.outcome import Cli

WIDE = pa.table({"id": [1], "a_rather_long_name": ["x"], "tags": [["[bold]"]]})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "orders"
    append(path, properties={"delta.enableChangeDataFeed": "true"}, partition_by=["name"])
    land(path, "monday", run="20240101T000000-aaaa0000")
    return path


def facts(out: str) -> dict[str, str]:
    return dict(re.split(r"\s{2,}", line, maxsplit=1) for line in out.splitlines())


# info


def test_info_says_what_a_table_is(cli: Cli, table: Path) -> None:
    outcome = cli("table", "info", "orders")

    found = facts(outcome.out)
    assert outcome.code == 0
    assert (found["uri"], found["version"], found["rows"], found["files"]) == ("orders", "1", "4", "4")
    assert (found["columns"], found["partitioned by"]) == ("2", "name")
    assert found["properties"] == "delta.enableChangeDataFeed=true"
    assert found["id"] == str(DeltaTable(table).metadata().id)


def test_info_can_be_read_by_machines(cli: Cli, table: Path) -> None:
    found = cli("table", "info", "orders", "--json").json

    assert (found["version"], found["rows"], found["partitioned_by"]) == (1, 4, ["name"])
    assert found["properties"] == {"delta.enableChangeDataFeed": "true"}
    assert found["bytes"] == sum(file.stat().st_size for file in table.rglob("*.parquet"))


def test_info_looks_back(cli: Cli, table: Path) -> None:
    assert cli("table", "info", "orders", "--version", 0, "--json").json["rows"] == 2


def test_a_version_that_does_not_exist_says_which_do(cli: Cli, table: Path) -> None:
    outcome = cli("table", "info", "orders", "--version", 7)

    assert outcome.code == 2
    assert outcome.error == ["Error: Version 7 of orders does not exist.", "Hint: Versions 0 to 1 do."]


def test_info_stays_one_line_a_fact_on_a_narrow_terminal(
    cli: Cli, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")

    assert facts(cli("table", "info", "orders").out)["properties"] == "delta.enableChangeDataFeed=true"


@pytest.mark.parametrize("command", ["info", "history", "schema"])
@pytest.mark.parametrize("uri", ["nothing", "", ".", "foo://x", "s3://", "\udcff"])
def test_a_place_without_a_table_is_two_lines(cli: Cli, command: str, uri: str) -> None:
    outcome = cli("table", command, uri)

    assert outcome.code == 2
    assert len(outcome.error) == 2


def test_a_table_may_be_named_by_a_uri(cli: Cli, table: Path) -> None:
    assert cli("table", "info", table.as_uri()).code == 0
    assert cli("table", "info", table).code == 0


def test_a_table_that_cannot_be_opened_is_two_lines(cli: Cli, table: Path) -> None:
    rewrite(table, 1, "damaged")

    assert cli("table", "history", "orders").code == 1
    assert len(cli("table", "info", "orders").error) == 2


# history


def test_history_names_the_newest_commit_first(cli: Cli, table: Path) -> None:
    outcome = cli("table", "history", "orders", "--json")

    last, first = outcome.json
    assert (last["version"], last["pipeline"], last["key"]) == (1, "orders", "monday")
    assert (last["run"], last["txn"]) == ("20240101T000000-aaaa0000", {"deltaworks/orders#monday": 1})
    assert (first["version"], first["pipeline"], first["run"], first["txn"]) == (0, None, None, {})
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", last["timestamp"])
    assert last["files_added"] == 2


def test_history_can_be_short(cli: Cli, table: Path) -> None:
    assert [commit["version"] for commit in cli("table", "history", "orders", "-n", 1, "--json").json] == [1]


def test_history_is_a_table_people_can_read(cli: Cli, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")

    header, last, first = cli("table", "history", "orders").out.splitlines()
    assert header.split() == ["version", "when", "operation", "files", "pipeline", "run"]
    assert last.split()[-2:] == ["orders#monday", "20240101T000000-aaaa0000"]
    assert first.split()[-2:] == ["-", "-"]


def test_history_survives_commits_that_say_nothing(cli: Cli, table: Path) -> None:
    rewrite(table, 2, json.dumps({"txn": {"appId": "a", "version": 1}}))

    outcome = cli("table", "history", "orders")

    assert outcome.code == 0
    assert len(outcome.out.splitlines()) >= 4


def test_history_in_a_file_has_whole_rows(cli: Cli, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    _, last, _ = cli("table", "history", "orders").out.splitlines()

    assert last.split()[-2:] == ["orders#monday", "20240101T000000-aaaa0000"]


# schema


def test_schema_names_columns_and_types(cli: Cli, table: Path) -> None:
    header, first, second = cli("table", "schema", "orders").out.splitlines()

    assert header.split() == ["column", "type"]
    assert first.split() == ["id", "bigint"]
    assert second.split() == ["name", "string", "partition"]


def test_schema_can_be_read_by_machines(cli: Cli, tmp_path: Path) -> None:
    append(tmp_path / "wide", WIDE)

    assert cli("table", "schema", "wide", "--json").json == [
        {"name": "id", "type": "bigint", "nullable": True},
        {"name": "a_rather_long_name", "type": "string", "nullable": True},
        {"name": "tags", "type": "array<string>", "nullable": True},
    ]


def test_schema_says_what_must_not_be_null(cli: Cli, tmp_path: Path) -> None:
    fields = pa.schema([pa.field("[bold]", pa.int64(), nullable=False)])
    append(tmp_path / "strict", pa.table({"[bold]": [1]}, schema=fields))

    assert cli("table", "schema", "strict").out.splitlines()[1].split() == ["[bold]", "bigint", "not", "null"]


def test_schema_looks_back(cli: Cli, table: Path) -> None:
    assert cli("table", "schema", "orders", "--version", 0).code == 0
