"""Where the installed PySpark lies, found without importing it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from deltaworks.errors import SetupError


def pyspark_home() -> Path:
    """Return the folder of the PySpark package, which is also its Spark."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise SetupError(
            "PySpark is not installed.",
            hint="Run `pip install 'deltaworks[spark]'`, or on a platform that brings its own Spark use its Python.",
        )
    return Path(spec.origin).parent


def spark_jars(home: Path) -> tuple[Path, ...]:
    """List the jars that ship with Spark, always in the same order."""
    return tuple(sorted((home / "jars").glob("*.jar")))


def ivy_jar(home: Path) -> Path:
    """Return the Ivy that ships with Spark."""
    found = sorted((home / "jars").glob("ivy-*.jar"))
    if not found:
        raise SetupError(
            f"No Ivy jar lies in {home / 'jars'}.",
            hint="Reinstall PySpark: `pip install --force-reinstall 'deltaworks[spark]'`.",
        )
    return found[-1]
