"""What a user installs is whole."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.house.tree import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = {path.name: path.read_bytes() for path in (ROOT / "examples").glob("*.yaml")}


@pytest.mark.parametrize("way", [["--wheel"], []], ids=["from the clone", "from the source distribution"])
def test_a_wheel_carries_the_pipelines_of_the_demo(tmp_path: Path, way: list[str]) -> None:
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), *way, str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)

    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        inside = "deltaworks/demo/pipelines/"
        carried = {name.removeprefix(inside): wheel.read(name) for name in wheel.namelist() if name.startswith(inside)}

    assert EXAMPLES
    assert carried == EXAMPLES
