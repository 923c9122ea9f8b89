from __future__ import annotations

import logging
import subprocess
import sys
from typing import TYPE_CHECKING

from deltaworks.runs.log import run_log
from deltaworks.vault import Redactor

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

QUIET = """
from deltaworks.runs.log import logger, run_log
from deltaworks.vault import Redactor
from pathlib import Path
import sys
with run_log(Path(sys.argv[1]), "run-1", Redactor()) as log:
    log.error("a word")
logger.error("another word")
"""


def test_every_line_names_its_run(tmp_path: Path) -> None:
    with run_log(tmp_path / "run.log", "run-1", Redactor()) as log:
        log.info("extract took %.1f s", 1.5)

    [line] = (tmp_path / "run.log").read_text().splitlines()
    assert line.endswith(" INFO run-1 extract took 1.5 s")


def test_secrets_are_hidden_in_lines_and_tracebacks(tmp_path: Path) -> None:
    with run_log(tmp_path / "run.log", "run-1", Redactor(["canary"])) as log:
        try:
            raise ValueError("wrong password canary")
        except ValueError:
            log.exception("failed with %s", "canary")

    text = (tmp_path / "run.log").read_text()
    assert "Traceback" in text
    assert "canary" not in text


def test_secrets_are_hidden_from_the_handlers_of_others_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with run_log(tmp_path / "run.log", "run-1", Redactor(["canary"])) as log:
        try:
            raise ValueError("wrong password canary")
        except ValueError:
            log.exception("failed with %s", "canary")

    assert "failed with •••" in caplog.text
    assert "ValueError: wrong password •••" in caplog.text
    assert "canary" not in caplog.text


def test_two_runs_do_not_write_into_each_others_log(tmp_path: Path) -> None:
    with run_log(tmp_path / "a", "run-a", Redactor()) as a, run_log(tmp_path / "b", "run-b", Redactor()) as b:
        a.info("one")
        b.info("two")

    assert "two" not in (tmp_path / "a").read_text()
    assert "one" not in (tmp_path / "b").read_text()


def test_a_closed_log_is_written_no_more(tmp_path: Path) -> None:
    with run_log(tmp_path / "run.log", "run-1", Redactor()) as log:
        log.info("before")
    log.info("after")

    assert "after" not in (tmp_path / "run.log").read_text()
    assert logging.getLogger("deltaworks.run-1").handlers == []


def test_a_second_part_is_added_to_the_first(tmp_path: Path) -> None:
    for word in ("one", "two"):
        with run_log(tmp_path / "run.log", "run-1", Redactor()) as log:
            log.info(word)

    assert len((tmp_path / "run.log").read_text().splitlines()) == 2


def test_as_a_library_it_is_silent(tmp_path: Path) -> None:
    command = [sys.executable, "-c", QUIET, str(tmp_path / "run.log")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout + done.stderr == ""
    assert "a word" in (tmp_path / "run.log").read_text()
