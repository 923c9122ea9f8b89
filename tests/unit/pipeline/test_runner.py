from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.pipeline.files import config, pipeline, saved
from tests.unit.runs.records import record
from tests.unit.tables import append, land, restore

from deltaworks.errors import ConfigError, DeltaworksError, RefusedError, RunError, SetupError, StoppedError
from deltaworks.lake.folder import folder_at
from deltaworks.lake.proofs import Proofs
from deltaworks.pipeline.around import Around
from deltaworks.pipeline.asked import Asked
from deltaworks.pipeline.runner import Run, run_pipeline
from deltaworks.runs.folder import RunFolder
from deltaworks.runs.process import Process
from deltaworks.runs.record import RunRecord, Status
from deltaworks.vault import MemoryVault, Redactor

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from deltaworks.runs.events import Stage


def raising(error: BaseException) -> Callable[[], SparkSession]:
    def session() -> SparkSession:
        raise error

    return session


NEVER = raising(AssertionError("Spark was asked for"))


def around(session: Callable[[], SparkSession]) -> Around:
    return Around(session=session, vault=MemoryVault({}))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run whose source is there and that must not start Spark."""
    source = saved(tmp_path, "id\n1\n", "in.csv")
    values = pipeline(extract__connectionParams__path=str(source), load__connectionParams__path=str(tmp_path / "out"))
    proofs = Proofs(folder_at(str(tmp_path)))
    runs = RunFolder(folder_at(str(tmp_path / "runs")))
    return Run(config=config(values), around=around(NEVER), runs=runs, proofs=proofs, file="orders.yaml")


def failure(run: Run, kind: type[DeltaworksError]) -> tuple[DeltaworksError, RunRecord]:
    """Run what must fail; what it raised, and the record it left."""
    with pytest.raises(kind) as caught:
        run_pipeline(run)
    [left] = run.runs.newest()
    assert caught.value.record == str(run.runs.of(left))
    return caught.value, left


def test_a_key_that_landed_needs_no_spark(run: Run, tmp_path: Path) -> None:
    land(tmp_path / "out", "monday")

    result = run_pipeline(replace(run, asked=Asked(key="monday")))

    [left] = run.runs.newest()
    assert result.success
    assert (result.load.already_landed, result.load.version) == (True, 0)
    assert (left.status, left.run_id, left.key, left.file) == (
        Status.SUCCEEDED,
        result.run_id,
        "monday",
        "orders.yaml",
    )
    assert left.result is not None
    assert left.result["already_landed"] is True
    assert result.record == run.runs.of(left)


def test_a_landed_key_leaves_the_table_alone(run: Run, tmp_path: Path) -> None:
    version = land(tmp_path / "out", "monday")

    run_pipeline(replace(run, asked=Asked(key="monday")))

    assert len(list((tmp_path / "out" / "_delta_log").glob("*.json"))) == version + 1


def test_a_key_that_a_restore_took_back_is_refused_before_spark_starts(run: Run, tmp_path: Path) -> None:
    append(tmp_path / "out")
    land(tmp_path / "out", "monday")
    restore(tmp_path / "out", 0)

    error, left = failure(replace(run, asked=Asked(key="monday")), RefusedError)

    assert error.exit_code == 4
    assert left.status is Status.FAILED
    assert left.error is not None
    assert (left.error["type"], left.error["exit_code"]) == ("KeyGoneError", 4)


def test_a_source_that_is_not_there_is_refused_before_spark_starts(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in.csv").unlink()

    error, left = failure(run, ConfigError)

    assert "There is nothing to read at" in str(error)
    assert left.status is Status.FAILED
    assert not (tmp_path / "out").exists()


def test_nonsense_about_keys_is_refused(run: Run) -> None:
    assert "--again needs a key" in str(failure(replace(run, asked=Asked(again=True)), ConfigError)[0])


def test_a_machine_without_java_leaves_a_record_too(run: Run) -> None:
    _, left = failure(replace(run, around=around(raising(SetupError("No Java.", hint="Install it.")))), SetupError)

    assert left.error is not None
    assert (left.error["message"], left.error["hint"]) == ("No Java.", "Install it.")


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(1)])
def test_a_run_that_is_stopped_is_closed_as_interrupted(run: Run, stop: BaseException) -> None:
    error, left = failure(replace(run, around=around(raising(stop))), StoppedError)

    assert error.exit_code == 130
    assert left.status is Status.INTERRUPTED


def test_an_error_nobody_expected_is_told_as_a_bug(run: Run) -> None:
    error, left = failure(replace(run, around=around(raising(ZeroDivisionError("by zero")))), RunError)

    assert str(error) == "ZeroDivisionError: by zero"
    assert "bug of deltaworks" in error.hint
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert "Traceback" in log(run, left)


def test_an_error_of_ours_is_raised_as_it_is(run: Run) -> None:
    cause = ValueError("the cause")
    ours = RunError("It broke.", hint="Mend it.")
    ours.__cause__ = cause

    error, _ = failure(replace(run, around=around(raising(ours))), RunError)

    assert error is ours
    assert error.__cause__ is cause


def test_secrets_reach_neither_the_record_nor_the_log_nor_the_error(run: Run, tmp_path: Path) -> None:
    values = pipeline(
        extract__connectionParams__path=str(tmp_path / "in.csv"),
        extract__options={"password": "hunter2", "header": "canary-1", "nested.secret": 12345},
        load__connectionParams__path=str(tmp_path / "out"),
        spark={"conf": {"fs.s3a.secret.key": "hunter2"}},
    )
    broken = RunError("login with canary-1 failed", hint="canary-1 is wrong")
    secret = replace(run, config=config(values), redactor=Redactor(["canary-1"]), around=around(raising(broken)))

    error, left = failure(secret, RunError)

    written = "".join(file.read_text() for file in Path(run.runs.of(left)).iterdir())
    told = str(error) + error.hint + written
    assert not any(word in told for word in ("canary-1", "hunter2", "12345"))
    assert str(error) == "login with ••• failed"
    assert left.config["extract"]["options"] == {"password": "•••", "header": "•••", "nested.secret": "•••"}


def test_the_record_holds_the_file_as_it_was_understood(run: Run) -> None:
    _, left = failure(run, RunError)

    assert left.config["pipelineId"] == "orders"
    assert left.config["extract"]["format"] == "csv"
    assert left.config["writeMode"] == "Append"


def test_an_observer_hears_of_every_stage(run: Run) -> None:
    heard: list[Stage] = []

    failure(replace(run, observer=heard.append), RunError)

    assert [(stage.pipeline, stage.name) for stage in heard] == [("orders", "extract"), ("orders", "session")]


def test_the_log_has_a_line_for_every_stage(run: Run) -> None:
    _, left = failure(run, RunError)

    first = log(run, left).splitlines()[0]
    assert " INFO " in first
    assert left.run_id in first
    assert "extract took" in first


def test_a_run_closes_the_records_of_those_that_were_killed(run: Run, tmp_path: Path) -> None:
    killed = record(process=replace(Process.current(), started="1"))
    run.runs.save(killed)
    land(tmp_path / "out", "monday")

    run_pipeline(replace(run, asked=Asked(key="monday")))

    assert run.runs.find(killed.run_id).status is Status.INTERRUPTED


def test_a_record_that_cannot_be_opened_stops_the_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("in the way")

    with pytest.raises(SetupError, match="The run record cannot be written"):
        run_pipeline(run)


def test_the_record_of_a_success_names_the_versions(run: Run, tmp_path: Path) -> None:
    land(tmp_path / "out", "monday")

    run_pipeline(replace(run, asked=Asked(key="monday"), versions=lambda: {"spark": "4"}))

    assert manifest(run)["versions"] == {"spark": "4"}


def manifest(run: Run) -> dict[str, Any]:
    [path] = Path(run.runs.uri).glob("*/*/manifest.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def log(run: Run, left: RunRecord) -> str:
    return (Path(run.runs.of(left)) / "run.log").read_text()
