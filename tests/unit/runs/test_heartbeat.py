from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.unit.runs.records import record

from deltaworks.lake.folder import folder_at
from deltaworks.runs.folder import RunFolder
from deltaworks.runs.heartbeat import beating

if TYPE_CHECKING:
    from collections.abc import Callable

SOON = 0.02  # seconds


def eventually(true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    return true()


def test_a_run_that_goes_on_says_so_again_and_again(tmp_path: Path) -> None:
    runs = RunFolder(folder_at(str(tmp_path)))
    marker = f".running/{record().run_id}@orders"

    with beating(runs, record(), SOON):
        assert eventually(lambda: runs.folder.modified(marker) is not None)
        first = runs.folder.modified(marker)
        assert eventually(lambda: runs.folder.modified(marker) != first)


def test_a_run_that_ended_says_nothing_more(tmp_path: Path) -> None:
    runs = RunFolder(folder_at(str(tmp_path)))
    with beating(runs, record(), SOON):
        pass
    runs.save(record().interrupted())

    time.sleep(5 * SOON)

    assert runs.folder.names(".running") == []


def test_a_log_in_a_local_folder_is_written_in_place(tmp_path: Path) -> None:
    runs = RunFolder(folder_at(str(tmp_path)))

    with beating(runs, record()) as log:
        assert log == Path(runs.of(record())) / "run.log"


def test_a_log_reaches_a_bucket_with_every_beat_and_at_the_end() -> None:
    runs = RunFolder(folder_at("memory:///runs"))

    def sent() -> bytes:
        name = f"orders/{record().run_id}/run.log"
        return runs.folder.read(name) if runs.folder.modified(name) else b""

    with beating(runs, record(), SOON) as log:
        log.write_text("one\n")
        assert eventually(lambda: sent() == b"one\n")
        log.write_text("one\ntwo\n")

    assert sent() == b"one\ntwo\n"
    assert not log.exists()


def test_storage_that_does_not_answer_does_not_stop_a_run(tmp_path: Path) -> None:
    runs = RunFolder(folder_at(str(tmp_path / "file")))
    (tmp_path / "file").touch()

    with beating(runs, record(), SOON):
        time.sleep(5 * SOON)
