"""What a user installs is whole."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

import pytest
from tools import logstore

from tests.house.tree import ROOT, named, tracked

if TYPE_CHECKING:
    from pathlib import Path

SUFFIXES = {".yaml", ".json"}
SHIPPED = ROOT / "examples"
EXAMPLES = {
    path.relative_to(SHIPPED).as_posix(): path.read_bytes() for path in SHIPPED.rglob("*") if path.suffix in SUFFIXES
}
CLASSES = {path.relative_to(ROOT / "java").with_suffix("").as_posix() for path in (ROOT / "java").rglob("*.java")}


def build(root: Path, folder: Path, *way: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), *way, str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(params=[["--wheel"], []], ids=["from the clone", "from the source distribution"])
def built(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder with the wheel, and with the source distribution if the wheel came from it."""
    done = build(ROOT, tmp_path, *request.param)
    assert done.returncode == 0, done.stdout + done.stderr
    return tmp_path


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone that was never set up."""
    for path in tracked():
        (tmp_path / named(path)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / named(path))
    return tmp_path


def test_a_wheel_carries_the_pipelines_of_the_demo_and_the_log_store(built: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        inside = "deltaworks/demo/pipelines/"
        carried = {name.removeprefix(inside): wheel.read(name) for name in wheel.namelist() if name.startswith(inside)}
        jar = wheel.read("deltaworks/spark/logstore.jar")

    assert EXAMPLES
    assert carried == EXAMPLES
    assert classes(jar) == CLASSES
    for sources in built.glob("*.tar.gz"):
        assert in_sources(sources) == jar


def in_sources(path: Path) -> bytes:
    """The jar of a source distribution."""
    with tarfile.open(path) as sources:
        jar = sources.extractfile(f"{path.name.removesuffix('.tar.gz')}/{logstore.JAR}")
        assert jar is not None
        return jar.read()


def classes(jar: bytes) -> set[str]:
    """The classes in a jar, without those inside them."""
    with zipfile.ZipFile(BytesIO(jar)) as opened:
        names = {name.removesuffix(".class") for name in opened.namelist() if name.endswith(".class")}
    return {name for name in names if "$" not in name}


@pytest.mark.parametrize("way", ["--wheel", "--sdist"])
def test_nothing_is_packed_from_a_clone_that_has_no_log_store(clone: Path, way: str) -> None:
    done = build(clone, clone / "dist", way)

    assert done.returncode != 0
    assert f"{logstore.JAR} is missing, or older than java/" in done.stdout + done.stderr
    assert not list((clone / "dist").glob("deltaworks*"))


def test_set_up_can_install_a_clone_before_the_log_store_is_made(clone: Path) -> None:
    code = "import hatchling.build, sys; hatchling.build.build_editable(sys.argv[1])"

    subprocess.run([sys.executable, "-c", code, str(clone / "dist")], cwd=clone, check=True, capture_output=True)

    assert list((clone / "dist").glob("*.whl"))
