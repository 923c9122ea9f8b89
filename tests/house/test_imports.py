from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.house.tree import PACKAGE, ROOT, sources

# What an installation without the `spark` extra lacks.
IMPORT_ALL = """
import importlib, sys
sys.modules |= dict.fromkeys(["pyspark", "delta", "py4j"])
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except Exception as error:
        print(f"{name}: {error!r}")
"""


def import_without_spark(*names: str) -> str:
    command = [sys.executable, "-c", IMPORT_ALL, *names]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def test_every_module_imports_without_spark_installed() -> None:
    assert import_without_spark(*map(module_of, sources())) == ""


def test_a_module_that_needs_spark_would_be_seen() -> None:
    assert import_without_spark("pyspark.sql") != ""


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, deltaworks; print(*{'pyspark', 'delta', 'deltalake', 'pyarrow'} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert loaded.split() == []


def test_imports_go_one_way() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
