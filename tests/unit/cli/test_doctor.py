from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.outcome import Cli

LOOKED_AT = ["java", "spark", "jars", "disk", "write access", "time zone"]


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_everything_a_run_needs_is_looked_at(cli: Cli) -> None:
    found = cli("doctor", "--json").json

    assert [finding["name"] for finding in found] == LOOKED_AT
    assert [finding["name"] for finding in found if not finding["ok"]] == []


def test_each_line_is_ok_or_what_to_do(cli: Cli) -> None:
    outcome = cli("doctor")

    assert outcome.code == 0
    assert [line[:2] for line in outcome.out.splitlines()] == ["ok"] * len(LOOKED_AT)


def test_jars_that_are_not_there_yet_are_no_fault(cli: Cli, tmp_path: Path) -> None:
    found = {finding["name"]: finding["found"] for finding in cli("doctor", "--json").json}

    assert found["jars"].startswith("not fetched yet;")
    assert not (tmp_path / "cache").exists()


def test_a_missing_java_is_told_with_what_to_do(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")

    outcome = cli("doctor")

    assert outcome.code == 3
    assert outcome.out.startswith("bad  java")
    assert "/nowhere" in outcome.out
    assert "Install Java 17" in outcome.out


def test_a_folder_that_is_not_there_yet_is_judged_by_where_it_would_be(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("doctor", tmp_path / "not" / "yet", "--json")

    assert outcome.code == 0
    assert outcome.json[4]["found"] == f"{tmp_path} can be written"
    assert not (tmp_path / "not").exists()


def test_a_folder_that_cannot_be_written_is_told(cli: Cli) -> None:
    outcome = cli("doctor", "/proc", "--json")

    assert outcome.code == 3
    assert [finding["name"] for finding in outcome.json if not finding["ok"]][-1] == "write access"
    assert "/proc cannot be written: " in outcome.json[4]["found"]


def test_a_full_disk_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1_500_000))

    finding = cli("doctor", "--json").json[3]

    assert (finding["ok"], finding["found"]) == (False, "Only 1.5 MB are free at ..")


def test_a_narrow_terminal_is_wide_enough(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")

    assert len(cli("doctor").out.splitlines()) == len(LOOKED_AT)
