from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.runs.records import record

from deltaworks.errors import ConfigError, SetupError
from deltaworks.lake.folder import folder_at
from deltaworks.runs.folder import SILENCE, RunFolder
from deltaworks.runs.process import Process
from deltaworks.runs.record import RunRecord, Status
from deltaworks.runs.result import LoadResult

ROOT = Path(__file__).parents[3]
GONE = replace(Process.current(), started="1")
ELSEWHERE = replace(GONE, machine="elsewhere")

OPEN_AND_WAIT = """
import sys
from tests.unit.runs.records import record
from deltaworks.lake.folder import folder_at
from deltaworks.runs.folder import RunFolder
RunFolder(folder_at(sys.argv[1])).save(record())
print("saved", flush=True)
input()
"""


def manifest(folder: RunFolder, saved: RunRecord) -> Path:
    return Path(folder.of(saved)) / "manifest.json"


def marker(folder: RunFolder, saved: RunRecord) -> Path:
    return Path(folder.uri) / ".running" / f"{saved.run_id}@{saved.pipeline_id}"


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(folder_at(str(tmp_path / "runs")))


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
    folder = RunFolder(folder_at(str(tmp_path_factory.mktemp("runs"))))
    saved = record(config={text: [number, text]}, user=text)

    folder.save(saved)

    assert folder.find(saved.run_id) == saved


def test_a_file_name_that_is_not_utf_8_is_kept(folder: RunFolder) -> None:
    saved = record(file=b"caf\xe9.yaml".decode(errors="surrogateescape"))

    folder.save(saved)

    assert folder.find(saved.run_id).file == saved.file


def test_a_record_is_plain_json_a_person_can_open(folder: RunFolder) -> None:
    folder.save(record(user="José"))

    path = Path(folder.uri) / "orders" / "20240101T000000-aaaa0000" / "manifest.json"
    assert '"user": "José"' in path.read_text(encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8"))["status"] == "running"


def test_a_save_leaves_nothing_beside_the_record(folder: RunFolder) -> None:
    folder.save(record())
    folder.save(record().interrupted())

    assert [file.name for file in Path(folder.uri).rglob("*") if file.is_file()] == ["manifest.json"]


def test_a_reader_never_sees_half_a_record(folder: RunFolder) -> None:
    folder.save(record(config={"a": "x" * 200_000}))
    path = manifest(folder, record())
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
    Path(folder.uri).write_text("in the way")

    with pytest.raises(SetupError, match=r"The run record cannot be written to .*: Not a directory") as caught:
        folder.save(record())

    assert "deltaworks.yaml" in caught.value.hint


# Closing


def test_a_killed_run_is_closed_as_interrupted_by_the_next_command(folder: RunFolder) -> None:
    command = [sys.executable, "-c", OPEN_AND_WAIT, folder.uri]
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


def test_a_run_of_another_machine_is_left_alone_while_its_heart_beats(folder: RunFolder) -> None:
    folder.save(record(process=ELSEWHERE))
    beat_at(folder, record(), datetime.now(UTC) - SILENCE * 0.9)

    folder.close_interrupted()

    assert folder.find(record().run_id).status is Status.RUNNING


def test_a_run_of_another_machine_whose_heart_has_stopped_is_closed(folder: RunFolder) -> None:
    folder.save(record(process=ELSEWHERE))
    beat_at(folder, record(), datetime.now(UTC) - SILENCE * 1.1)

    folder.close_interrupted()

    assert folder.find(record().run_id).status is Status.INTERRUPTED


def test_a_run_of_a_host_with_the_same_name_is_another_machines(folder: RunFolder) -> None:
    folder.save(record(process=replace(ELSEWHERE, host=Process.current().host)))

    folder.close_interrupted()

    assert folder.find(record().run_id).status is Status.RUNNING


def test_the_silence_is_measured_by_the_clock_of_the_storage(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.save(record(process=ELSEWHERE))
    behind = datetime.now(UTC) - SILENCE * 3
    beat_at(folder, record(), behind)
    monkeypatch.setattr(RunFolder, "_clock", lambda _: behind + SILENCE * 0.5)

    folder.close_interrupted()

    assert folder.find(record().run_id).status is Status.RUNNING


def beat_at(folder: RunFolder, beating: RunRecord, moment: datetime) -> None:
    os.utime(marker(folder, beating), (moment.timestamp(), moment.timestamp()))


def test_a_run_that_ended_keeps_how_it_ended(folder: RunFolder) -> None:
    closed = record(process=GONE).landed(LoadResult(success=True)).succeeded()
    folder.save(closed)
    folder.beat(closed)  # killed between the last write and the removal of the marker

    folder.close_interrupted()

    assert folder.find(closed.run_id) == closed
    assert not marker(folder, closed).exists()


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
    folder.beat(record())

    folder.close_interrupted()

    assert marker(folder, record()).exists()


def test_a_record_that_cannot_be_closed_here_does_not_stop_a_look_at_it(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.save(record(process=GONE))

    def refuse(self: RunFolder, _: RunRecord) -> None:
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
    folder.save(record("2-damaged", process=GONE))
    manifest(folder, record("2-damaged")).write_text(text)

    folder.close_interrupted()

    assert [found.run_id for found in folder.newest()] == ["1-whole"]


def test_a_damaged_record_that_is_asked_for_is_named(folder: RunFolder) -> None:
    folder.save(record("2-damaged"))
    path = manifest(folder, record("2-damaged"))
    path.write_text("{")

    with pytest.raises(ConfigError, match=re.escape(f"{path} is not a whole run record")):
        folder.find("2-damaged")


def test_a_record_of_a_later_version_is_read(folder: RunFolder) -> None:
    folder.save(record())
    path = manifest(folder, record())
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
