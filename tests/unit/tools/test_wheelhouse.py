from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from tools import wheelhouse

if TYPE_CHECKING:
    from pathlib import Path


def test_a_wheel_that_is_not_whole_is_dropped(tmp_path: Path) -> None:
    whole, cut = tmp_path / "a-1-py3-none-any.whl", tmp_path / "b-1-py3-none-any.whl"
    with zipfile.ZipFile(whole, "w") as wheel:
        wheel.writestr("a.py", "x = 1\n" * 100)
    cut.write_bytes(whole.read_bytes()[:-30])

    wheelhouse.drop_damaged(tmp_path)

    assert list(tmp_path.iterdir()) == [whole]


def test_progress_counts_what_pip_has_begun(tmp_path: Path) -> None:
    pins, log = tmp_path / "constraints.txt", tmp_path / "setup.log"
    pins.write_text("# pins\na==1\nb==2\nc==3\nd==4\n")
    log.write_text("Collecting a==1 (from -r x)\n  Downloading a\nCollecting b==2 (from -r x)\n")

    assert wheelhouse.progress(pins, log).endswith("] 2 of 4 b==2")


def test_a_missing_network_is_told_from_other_reasons(tmp_path: Path) -> None:
    offline, other = tmp_path / "offline.log", tmp_path / "other.log"
    offline.write_text("WARNING: Retrying after connection broken by 'NewConnectionError()'\n")
    other.write_text("ERROR: Failed building wheel\n")

    assert "cannot be reached" in wheelhouse.reason(offline)
    assert "could not be fetched or built" in wheelhouse.reason(other)
