from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.runs.records import record

from deltaworks.errors import ConfigError, RunError, SetupError, StoppedError
from deltaworks.runs.process import Process
from deltaworks.runs.record import RunFolder, RunRecord, Status, new_run_id, now
from deltaworks.runs.result import LoadResult

ROOT = Path(__file__).parents[3]
GONE = replace(Process.current(), started="1")

OPEN_AND_WAIT = """
import sys
from pathlib import Path
from tests.unit.runs.records import record
from deltaworks.runs.record import RunFolder
print(RunFolder(Path(sys.argv[1])).save(record()), flush=True)
input()
"""


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "runs")


# Writing


def test_a_saved_record_comes_back_equal(folder: RunFolder) -> None:
    saved = record(file="orders.yaml", key="monday", config={"a": ["ü", None]}, plan={"steps": []})

    folder.save(saved)

    assert folder.find(saved.run_id) == saved


@settings(max_examples=50)
@given(text=st.text(), number=st.integers() | st.none() | st.booleans())
def test_a_record_of_anything_comes_back_equal(
    tmp_path_factory: pytest.TempPathFactory, text: str, number: int | None
) -> None:
    folder = RunFolder(tmp_path_factory.mktemp("runs"))
    saved = record(config={text: [number, text]}, user=text)

    folder.save(saved)

    assert folder.find(saved.run_id) == saved


def test_a_file_name_that_is_not_utf_8_is_kept(folder: RunFolder) -> None:
    saved = record(file=b"caf\xe9.yaml".decode(errors="surrogateescape"))

    folder.save(saved)

    assert folder.find(saved.run_id).file == saved.file


def test_a_record_is_plain_json_a_person_can_open(folder: RunFolder) -> None:
    path = folder.save(record(user="José"))

    assert path == folder.path / "orders" / "20240101T000000-aaaa0000" / "manifest.json"
    assert '"user": "José"' in path.read_text(encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8"))["status"] == "running"


def test_a_save_leaves_nothing_beside_the_record(folder: RunFolder) -> None:
    path = folder.save(record())
    folder.save(record().interrupted())

    assert [file.name for file in path.parent.iterdir()] == ["manifest.json"]


def test_a_reader_never_sees_half_a_record(folder: RunFolder) -> None:
    path = folder.save(record(config={"a": "x" * 200_000}))
    seen: list[str] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.append(json.loads(path.read_text(encoding="utf-8"))["run_id"])

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(20):
        folder.save(record(config={"a": "y" * 200_000}))
    stop.set()
    reader.join()

    assert set(seen) == {record().run_id}


def test_two_that_save_the_same_record_do_not_trip_over_each_other(folder: RunFolder) -> None:
    trips: list[Exception] = []

    def save() -> None:
        try:
            for _ in range(50):
                folder.save(record(config={"a": "x" * 10_000}))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a trip
            trips.append(error)

    savers = [threading.Thread(target=save) for _ in range(4)]
    for saver in savers:
        saver.start()
    for saver in savers:
        saver.join()

    assert trips == []
    assert folder.find(record().run_id).config == {"a": "x" * 10_000}


def test_a_folder_that_cannot_be_made_is_one_clear_error(folder: RunFolder) -> None:
    folder.path.write_text("in the way")

    with pytest.raises(SetupError, match=r"The run record cannot be written to .*: Not a directory") as caught:
        folder.save(record())

    assert "deltaworks.yaml" in caught.value.hint


# Closing


def test_a_run_that_landed_is_closed_with_its_numbers() -> None:
    closed = record().landed(LoadResult(success=True, rows_read=3, version=7)).succeeded()

    assert closed.status is Status.SUCCEEDED
    assert closed.result is not None
    assert (closed.result["rows_read"], closed.result["version"]) == (3, 7)
    assert closed.ended is not None


def test_a_run_that_failed_is_closed_with_why() -> None:
    closed = record().failed(RunError("It broke.", hint="Mend it."))

    assert closed.status is Status.FAILED
    assert closed.error == {"type": "RunError", "message": "It broke.", "hint": "Mend it.", "exit_code": 1}


def test_a_run_that_was_stopped_is_closed_as_interrupted() -> None:
    assert record().failed(StoppedError("Stopped.", hint="Run it again.")).status is Status.INTERRUPTED


def test_a_killed_run_is_closed_as_interrupted_by_the_next_command(folder: RunFolder) -> None:
    command = [sys.executable, "-c", OPEN_AND_WAIT, str(folder.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout
        assert child.stdout.readline()
        folder.close_interrupted()
        alive = folder.find(record().run_id)
        child.kill()
        child.wait()
        folder.close_interrupted()
    dead = folder.find(record().run_id)

    assert alive.status is Status.RUNNING
    assert dead.status is Status.INTERRUPTED
    assert dead.ended is not None
    assert dead.error is not None
    assert dead.error["message"] == "The process ended before the run did."


def test_a_run_whose_number_another_process_has_now_is_closed(folder: RunFolder) -> None:
    folder.save(record(process=GONE))

    folder.close_interrupted()

    assert folder.find(record().run_id).status is Status.INTERRUPTED


def test_a_run_of_another_host_is_left_alone(folder: RunFolder) -> None:
    folder.save(record(process=replace(GONE, host="elsewhere")))

    folder.close_interrupted()

    assert folder.find(record().run_id).status is Status.RUNNING


def test_a_run_that_ended_keeps_how_it_ended(folder: RunFolder) -> None:
    closed = record(process=GONE).landed(LoadResult(success=True)).succeeded()
    path = folder.save(closed)
    (path.parent / "running").touch()  # killed between the last write and the removal of the marker

    folder.close_interrupted()

    assert folder.find(closed.run_id) == closed
    assert not (path.parent / "running").exists()


def test_a_run_that_ends_while_it_is_looked_at_keeps_how_it_ended(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = record().landed(LoadResult(success=True)).succeeded()
    folder.save(record())

    def ended(_: Process) -> bool:
        folder.save(closed)
        return True

    monkeypatch.setattr(Process, "is_gone", ended)
    folder.close_interrupted()

    assert folder.find(closed.run_id) == closed


def test_a_run_that_is_just_being_opened_is_left_alone(folder: RunFolder) -> None:
    opening = folder.path / "orders" / record().run_id
    opening.mkdir(parents=True)
    (opening / "running").touch()

    folder.close_interrupted()

    assert (opening / "running").exists()


def test_a_record_that_cannot_be_closed_here_does_not_stop_a_look_at_it(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.save(record(process=GONE))

    def refuse(self: RunFolder, _: RunRecord) -> Path:
        raise SetupError("Read-only.", hint="")

    monkeypatch.setattr(RunFolder, "save", refuse)
    folder.close_interrupted()

    assert folder.find(record().run_id).status is Status.RUNNING


# Reading


def test_records_are_listed_newest_first(folder: RunFolder) -> None:
    for run_id, pipeline in (("1-a", "orders"), ("3-c", "orders"), ("2-b", "returns")):
        folder.save(record(run_id, pipeline_id=pipeline))

    assert [found.run_id for found in folder.newest()] == ["3-c", "2-b", "1-a"]
    assert [found.run_id for found in folder.newest(limit=2)] == ["3-c", "2-b"]
    assert [found.run_id for found in folder.newest(pipeline="orders")] == ["3-c", "1-a"]
    assert [found.run_id for found in folder.newest(1, "returns")] == ["2-b"]


@pytest.mark.parametrize("pipeline", ["nothing", "*", "..", "../runs/orders", "/etc", "", "**"])
def test_the_name_of_no_pipeline_lists_nothing(folder: RunFolder, pipeline: str) -> None:
    folder.save(record())

    assert list(folder.newest(pipeline=pipeline)) == []


def test_a_folder_that_is_not_there_has_no_records(folder: RunFolder) -> None:
    folder.close_interrupted()

    assert list(folder.newest()) == []


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", "5", '{"status": "running"}', '{"status": "unheard of"}'])
def test_a_damaged_record_is_passed_over(folder: RunFolder, text: str) -> None:
    folder.save(record("1-whole"))
    folder.save(record("2-damaged", process=GONE)).write_text(text)

    folder.close_interrupted()

    assert [found.run_id for found in folder.newest()] == ["1-whole"]


def test_a_damaged_record_that_is_asked_for_is_named(folder: RunFolder) -> None:
    path = folder.save(record("2-damaged"))
    path.write_text("{")

    with pytest.raises(ConfigError, match=re.escape(f"{path} is not a whole run record")):
        folder.find("2-damaged")


def test_a_record_of_a_later_version_is_read(folder: RunFolder) -> None:
    path = folder.save(record())
    path.write_text(json.dumps(json.loads(path.read_text()) | {"novelty": 1}))

    assert folder.find(record().run_id) == record()


def test_a_part_that_only_one_run_has_finds_it(folder: RunFolder) -> None:
    folder.save(record("20240101T000000-aaaa0000"))
    folder.save(record("20240101T000000-bbbb0000"))

    assert folder.find("bbbb").run_id == "20240101T000000-bbbb0000"


def test_a_whole_id_finds_its_run_even_where_another_contains_it(folder: RunFolder) -> None:
    folder.save(record("1-a"))
    folder.save(record("1-ab"))

    assert folder.find("1-a").run_id == "1-a"


def test_a_part_that_several_runs_have_is_refused(folder: RunFolder) -> None:
    folder.save(record("1-a"))
    folder.save(record("1-b"))

    with pytest.raises(ConfigError, match="2 runs have '1-' in their id") as caught:
        folder.find("1-")

    assert "1-b" in caught.value.hint


def test_an_unknown_run_says_which_one_was_meant(folder: RunFolder) -> None:
    folder.save(record("20240101T000000-aaaa0000"))

    with pytest.raises(ConfigError, match="No run has the id '20240101T000000-aaaa1111'") as caught:
        folder.find("20240101T000000-aaaa1111")

    assert caught.value.hint == "Did you mean '20240101T000000-aaaa0000'?"


# Names and times


def test_no_two_runs_have_the_same_id() -> None:
    ids = {new_run_id() for _ in range(1000)}

    assert len(ids) == 1000
    assert all(re.fullmatch(r"\d{8}T\d{6}-[0-9a-f]{8}", run_id) for run_id in ids)


def test_times_are_in_utc_to_the_millisecond() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", now())
