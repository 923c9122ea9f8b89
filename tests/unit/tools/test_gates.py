from __future__ import annotations

from typing import TYPE_CHECKING

import coverage
import pytest
from tools.gates import gap

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def measured(tmp_path: Path) -> coverage.Coverage:
    lines = {"full.py": [1, 2], "half.py": [1]}
    for name in lines:
        (tmp_path / name).write_text("x = 1\ny = 2\n")
    measured = coverage.Coverage(data_file=None, config_file=False)
    measured.get_data().add_lines({str(tmp_path / name): numbers for name, numbers in lines.items()})
    return measured


def test_full_coverage_is_no_gap(measured: coverage.Coverage, tmp_path: Path) -> None:
    assert gap(measured, f"{tmp_path}/full*.py") is None


def test_a_line_that_no_test_reaches_is_a_gap(measured: coverage.Coverage, tmp_path: Path) -> None:
    assert "50.00 %" in str(gap(measured, f"{tmp_path}/half*.py"))


def test_nothing_measured_is_a_gap(measured: coverage.Coverage, tmp_path: Path) -> None:
    assert "Nothing was measured" in str(gap(measured, f"{tmp_path}/lost*.py"))
